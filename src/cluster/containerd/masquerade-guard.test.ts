import { expect, it } from "vitest";
import { planMasqueradeGuard } from "./masquerade-guard.ts";

const PODS = { networkName: "nodelet-1", range: "10.64.0.0/16" };
const own = (range: string, network = "nodelet-1") =>
  `-A POSTROUTING -s ${range} ! -d ${range} -m addrtype ! --dst-type MULTICAST -m comment --comment "name: \\"${network}\\" calls of pods of ${range}" -j MASQUERADE`;
/** What the plugin `bridge` makes for one pod, and rules of another network. */
const OTHERS = [
  "-P POSTROUTING ACCEPT",
  '-A POSTROUTING -s 10.64.0.2/32 -m comment --comment "name: \\"nodelet-1\\" id: \\"56a9\\"" -j CNI-60bf',
  own("10.64.0.0/16", "nodelet-2"),
];

it.each([
  ["is made where there is none", OTHERS, 1, 0],
  ["stays as it is", [...OTHERS, own("10.64.0.0/16")], 0, 0],
  ["replaces one of a range that pods had before", [...OTHERS, own("10.99.0.0/16")], 1, 1],
])("the rule by which pods call from the node's address %s", (_how, rules, missing, stale) => {
  const plan = planMasqueradeGuard(rules.join("\n"), PODS);
  expect([plan.missing.length, plan.stale.length]).toEqual([missing, stale]);
});

it("the rule is the one that iptables prints", () => {
  const [rule] = planMasqueradeGuard("", PODS).missing;
  const printed = rule?.map((word) => (word.includes(" ") ? `"${word.replaceAll('"', '\\"')}"` : word)).join(" ");
  expect(`-A ${printed}`).toBe(own("10.64.0.0/16"));
});
