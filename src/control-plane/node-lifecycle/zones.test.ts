import { describe, expect, test } from "vitest";
import { NODE_MONITOR_DEFAULTS } from "./monitor-settings.ts";
import { computeZones, evictionRateOf, isAllDisrupted, zoneMemberOf } from "./zones.ts";

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
    const zones = computeZones(membersOf(text), NODE_MONITOR_DEFAULTS);
    expect([...zones].map(([zone, { state }]) => `${zone} ${state}`)).toEqual(expected);
    expect(isAllDisrupted(zones)).toBe(isAll);
  });

  test.each([
    [0.5, "PartialDisruption"],
    [0.55, "Normal"],
  ])("of which half are not ready, with a threshold of %s: %s", (unhealthyShare, expected) => {
    const zones = computeZones(membersOf("a+ a+ a+ a- a- a-"), { unhealthyShare });
    expect(zones.get("/a")).toEqual({ state: expected, size: 6 });
  });

  test.each([
    ["Normal", 200, 0.1],
    ["FullDisruption", 200, 0.1],
    ["PartialDisruption", 51, 0.01],
    ["PartialDisruption", 50, 0],
  ] as const)("in %s with %s nodes lose %s a second", (state, size, rate) => {
    expect(evictionRateOf({ state, size }, NODE_MONITOR_DEFAULTS)).toBe(rate);
  });
});
