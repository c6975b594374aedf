import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { ensureFile } from "../processes/ensure-file.ts";
import { computeCniConfig } from "./cni-config.ts";
import { createFirewallGuard } from "./firewall-guard.ts";
import { computeFirewallMend, type ForeignFirewall, readForeignFirewalls } from "./foreign-firewalls.ts";
import { createHostPortGuard } from "./host-port-guard.ts";
import { openHostPortSandboxes } from "./host-port-sandboxes.ts";
import { openRules, type RuleAccess } from "./iptables-rules.ts";
import { createLoopbackGuard } from "./loopback-guard.ts";
import { readDefaultMtu } from "./machine-facts.ts";
import { createMasqueradeGuard } from "./masquerade-guard.ts";
import { joinGuards, type RuleGuard } from "./rule-guard.ts";
import { networkConfigPath, type RuntimeLayout } from "./runtime-layout.ts";

interface NetworkOptions {
  bridge: string;
  podCidr: string;
  log: Log;
  /** Lists the firewalls that no rule of ours can pass. Default: this machine's. */
  firewalls?: () => Promise<readonly ForeignFirewall[]>;
  /** Reads the MTU of the machine's own network. Default: that of the default route. */
  readMtu?: () => Promise<number | undefined>;
  /** Opens a table of rules. Default: this machine's. */
  open?: (...table: Parameters<typeof openRules>) => RuleAccess;
}

/**
 * Writes the configuration of the pod network and puts its guards in place, before a pod starts. Where the loopback guard
 * cannot be had, host ports do not answer on the node's 127.0.0.1, and the bridge is closed to it, because pods could
 * reach every server there otherwise. The caller keeps the returned guard.
 */
export async function prepareNetwork(layout: RuntimeLayout, options: NetworkOptions): Promise<Pick<RuleGuard, "keep">> {
  const {
    bridge,
    podCidr,
    log,
    open = openRules,
    firewalls = readForeignFirewalls,
    readMtu = readDefaultMtu,
  } = options;
  const { networkName, cniAddressDirectory: addressDirectory } = layout;
  const mtu = await readMtu();
  const write = async (isLoopbackGuarded: boolean) => {
    const text = computeCniConfig({ networkName, bridge, podCidr, addressDirectory, mtu, isLoopbackGuarded });
    await ensureFile(networkConfigPath(layout), text);
  };
  // The file tells whoever removes the network that there is one, so it is there before the first rule.
  await write(false);
  const loopback = createLoopbackGuard({ rules: open("iptables", "raw"), log }, { networkName, bridge });
  const ranges = podCidr.split(",").map((range) => {
    const isIpv6 = range.includes(":");
    return { range, family: isIpv6 ? "IPv6" : "IPv4", program: isIpv6 ? "ip6tables" : "iptables" } as const;
  });
  const ways = ranges.flatMap(({ range, program }) => [
    createMasqueradeGuard({ rules: open(program, "nat"), log }, { networkName, range }),
    createFirewallGuard({ rules: open(program, "filter"), log }, { networkName, bridge }),
  ]);
  await Promise.all(ways.map(async (way) => await way.ensure()));
  tellFirewalls(await firewalls(), { bridge, log });
  const tables = new Map(ranges.map(({ family, program }) => [family, open(program, "nat")] as const));
  const sandboxes = openHostPortSandboxes(networkName);
  const hostPorts = createHostPortGuard({ sandboxes, rules: tables, log }, networkName);
  const guard = joinGuards([loopback, ...ways, hostPorts]);
  if (await loopback.ensure()) {
    await write(true);
    return guard;
  }
  log.error("host ports do not answer on this node's 127.0.0.1: install iptables, and start nodelet again", { bridge });
  await closeBridge(bridge, log);
  return guard;
}

/** Nothing else would say why pods reach nobody. */
function tellFirewalls(firewalls: readonly ForeignFirewall[], { bridge, log }: Pick<NetworkOptions, "bridge" | "log">) {
  for (const firewall of firewalls) {
    const { table, hook } = firewall;
    log.error("a firewall drops the packets of pods", { table, hook, mend: computeFirewallMend(firewall, bridge) });
  }
}

/** Takes back what the plugin `portmap` set on the bridge in an earlier run. A bridge that does not exist is closed. */
async function closeBridge(bridge: string, log: Log): Promise<void> {
  try {
    await writeFile(join("/proc/sys/net/ipv4/conf", bridge, "route_localnet"), "0");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    log.error("pods may reach the servers on this node's loopback: set route_localnet of the bridge to 0", {
      bridge,
      error: messageOf(error),
    });
  }
}
