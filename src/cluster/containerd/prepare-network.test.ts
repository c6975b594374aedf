import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { type Log, silentLog } from "../../base/log.ts";
import type { ForeignFirewall } from "./foreign-firewalls.ts";
import type { RuleAccess } from "./iptables-rules.ts";
import { prepareNetwork } from "./prepare-network.ts";
import { computeRuntimeLayout, networkConfigPath } from "./runtime-layout.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-network-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

/** No interface has this name. */
const BRIDGE = "no-such-bridge0";

async function prepare(rules: RuleAccess, firewalls: readonly ForeignFirewall[] = []) {
  const said: string[] = [];
  const log: Log = { ...silentLog, error: (word) => said.push(word) };
  const layout = computeRuntimeLayout(directory);
  await mkdir(layout.cniConfigDirectory);
  const open = () => rules;
  await prepareNetwork(layout, {
    bridge: BRIDGE,
    podCidr: "10.71.0.0/16",
    log,
    open,
    firewalls: async () => firewalls,
    readMtu: async () => 1_400,
  });
  const { plugins } = JSON.parse(await readFile(networkConfigPath(layout), "utf8"));
  return { bridge: plugins[0], portmap: plugins[1], said };
}

describe("CVE-2020-8558: host ports answer on the node's 127.0.0.1", () => {
  it("where pods are kept from it", async () => {
    const { portmap, said } = await prepare({ list: async () => "", change: async () => {} });
    expect(portmap).toEqual({ type: "portmap", capabilities: { portMappings: true }, snat: true });
    expect(said).toEqual([]);
  });

  it("nowhere else: where iptables is missing they do not, and the log says how to mend it", async () => {
    const missing = async () => await Promise.reject(new CodedError("not-found", "iptables is not installed"));
    const { portmap, said } = await prepare({ list: missing, change: missing });
    expect(portmap).toEqual({ type: "portmap", capabilities: { portMappings: true }, snat: false });
    expect(said).toEqual([
      "pods do not reach what is beyond this node: their calls cannot have the node's address",
      "a firewall of this machine may drop the packets of pods",
      "pods cannot be kept from the node's loopback",
      "host ports do not answer on this node's 127.0.0.1: install iptables, and start nodelet again",
    ]);
  });
});

it("pods send no larger packets than the machine", async () => {
  const { bridge } = await prepare({ list: async () => "", change: async () => {} });
  expect(bridge).toMatchObject({ type: "bridge", mtu: 1_400 });
});

it("the log tells of a firewall that no rule of ours can pass", async () => {
  const rules = { list: async () => "", change: async () => {} };
  const { said } = await prepare(rules, [{ table: "inet filter", chain: "forward", hook: "forward" }]);
  expect(said).toEqual(["a firewall drops the packets of pods"]);
});

it("pods of each address family call from the node's address", async () => {
  const changed: string[] = [];
  const layout = computeRuntimeLayout(directory);
  await mkdir(layout.cniConfigDirectory);
  await prepareNetwork(layout, {
    ...{ bridge: BRIDGE, podCidr: "10.71.0.0/16,fd71::/64", log: silentLog },
    open: (program, table) => ({
      list: async () => "",
      change: async (words) => {
        if (table === "nat") changed.push(`${program} ${words.slice(0, 4).join(" ")}`);
      },
    }),
  });
  expect(changed).toEqual(["iptables -I POSTROUTING -s 10.71.0.0/16", "ip6tables -I POSTROUTING -s fd71::/64"]);
});
