import { describe, expect, test } from "vitest";
import { computeZoneStates, isAllDisrupted, zoneMemberOf } from "./zones.ts";

/**
 * Nodes written as `a+ a- b~`: a ready node of zone a, one that is not ready, and one of zone b that does not count.
 */
function membersOf(text: string) {
  return text
    .split(" ")
    .filter(Boolean)
    .map((member) => {
      const labels = { "topology.kubernetes.io/zone": member.slice(0, 1) };
      const status = { conditions: [{ type: "Ready", status: member.endsWith("+") ? "True" : "Unknown" }] };
      const excluded = member.endsWith("~") ? { "node.kubernetes.io/exclude-disruption": "" } : {};
      return zoneMemberOf({ metadata: { labels: { ...labels, ...excluded } }, status });
    });
}

describe("zones", () => {
  test.each<[string, string[], boolean]>([
    ["", [], false],
    ["a+", ["/a Normal"], false],
    ["a-", ["/a FullDisruption"], true],
    ["a+ a-", ["/a Normal"], false],
    ["a+ a- a-", ["/a Normal"], false],
    ["a+ a- a- a-", ["/a PartialDisruption"], false],
    ["a+ a+ a+ a- a- a-", ["/a Normal"], false],
    ["a- b+", ["/a FullDisruption", "/b Normal"], false],
    ["a- a- b-", ["/a FullDisruption", "/b FullDisruption"], true],
    ["a+ b~", ["/a Normal"], false],
    ["a~", [], false],
  ])("of %j", (text, expected, isAll) => {
    const states = computeZoneStates(membersOf(text));
    expect([...states].map(([zone, state]) => `${zone} ${state}`)).toEqual(expected);
    expect(isAllDisrupted(states)).toBe(isAll);
  });
});
