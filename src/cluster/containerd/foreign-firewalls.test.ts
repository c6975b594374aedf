import { expect, it } from "vitest";
import { computeFirewallMend, findForeignFirewalls } from "./foreign-firewalls.ts";

const chain = (table: string, hook: string, policy: string) => {
  const [family, name] = table.split(" ");
  return { chain: { family, table: name, name: hook, type: "filter", hook, prio: 0, policy } };
};
const print = (...chains: unknown[]) => JSON.stringify({ nftables: [{ metainfo: { version: "1.0.6" } }, ...chains] });

it.each([
  [
    "a table that drops what is forwarded",
    chain("inet filter", "forward", "drop"),
    "nft insert rule inet filter forward iifname nodelet0 accept && nft insert rule inet filter forward oifname nodelet0 accept",
  ],
  [
    "a table that lets nobody in",
    chain("ip guard", "input", "drop"),
    "nft insert rule ip guard input iifname nodelet0 accept",
  ],
  [
    "firewalld",
    chain("inet firewalld", "forward", "accept"),
    "firewall-cmd --permanent --zone=trusted --add-interface=nodelet0 && firewall-cmd --reload",
  ],
])("finds %s and says how pods get through", (_what, entry, mend) => {
  expect(findForeignFirewalls(print(entry)).map((one) => computeFirewallMend(one, "nodelet0"))).toEqual([mend]);
});

it.each([
  ["one that accepts", print(chain("inet filter", "forward", "accept"))],
  ["those of iptables", print(chain("ip filter", "forward", "drop"), chain("ip6 filter", "input", "drop"))],
  ["what judges other packets", print(chain("inet filter", "output", "drop"))],
  ["a chain without a hook", print({ chain: { family: "inet", table: "filter", name: "web" } })],
  ["garbage", '{"nftables": [null, 7, {"chain": "x"}, {"chain": null}]}'],
  ["no JSON", "Error: syntax error"],
  ["another shape", "null"],
])("passes over %s", (_what, printed) => {
  expect(findForeignFirewalls(printed)).toEqual([]);
});
