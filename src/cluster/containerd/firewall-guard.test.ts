import { expect, it } from "vitest";
import { planFirewallGuard } from "./firewall-guard.ts";

const NETWORK = { networkName: "nodelet-1", bridge: "nodelet0" };
const COMMENT = '-m comment --comment "name: \\"nodelet-1\\" packets of pods" -j ACCEPT';
/** As iptables prints them. */
const OWN = [
  `-A INPUT -i nodelet0 -m conntrack --ctstate DNAT ${COMMENT}`,
  `-A FORWARD -o nodelet0 ${COMMENT}`,
  `-A FORWARD -i nodelet0 ${COMMENT}`,
];
const OTHERS = [
  "-P FORWARD DROP",
  "-A FORWARD -j DOCKER-USER",
  "-A FORWARD -i nodelet0 -j ACCEPT",
  ...OWN.map((rule) => rule.replace("nodelet-1", "nodelet-2")),
];

it.each([
  ["are made where there are none", OTHERS, 3],
  ["stay as they are", [...OTHERS, ...OWN], 0],
  ["are made again one by one", [...OTHERS, ...OWN.slice(1)], 1],
  ["follow the name of the bridge", [...OTHERS, ...OWN.map((rule) => rule.replaceAll("nodelet0", "bridge1"))], 3],
])("the rules that let the packets of pods pass a firewall %s", (_how, rules, missing) => {
  const plan = planFirewallGuard(rules.join("\n"), NETWORK);
  expect([plan.missing.length, plan.stale]).toEqual([missing, []]);
});

it("lets pods call no server of this machine but those that a service leads to", () => {
  const input = planFirewallGuard("", NETWORK).missing.filter(([chain]) => chain === "INPUT");
  expect(input.map((words) => words.slice(0, 7).join(" "))).toEqual(["INPUT -i nodelet0 -m conntrack --ctstate DNAT"]);
});
