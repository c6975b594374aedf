import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf, runAll } from "../../base/errors.ts";
import { runCommand } from "../processes/run-command.ts";
import { findOwnRules, openRules, type RuleAccess, readRules } from "./iptables-rules.ts";
import { networkConfigPath, type RuntimeLayout } from "./runtime-layout.ts";

/** CNI's library keeps the result of each ADD in this fixed place. */
export const CNI_RESULTS = "/var/lib/cni/results";

/**
 * Removes the guards and what the CNI plugins leave on the machine when pods end without a CNI DEL: the bridge, rules and
 * cached results. It removes only what bears the name of this network or of one of its
 * sandboxes. No plugin of the network may run any more, because it would make the bridge again. Every step is tried, and
 * the errors are joined and thrown.
 */
export async function removeNetwork(layout: RuntimeLayout, sandboxIds: readonly string[]): Promise<void> {
  const configuration = await readConfiguration(layout);
  if (configuration === undefined) return;
  const { bridges, hasIpv6 } = readNetworkFacts(configuration);
  await runAll(
    [
      ...bridges.map((bridge) => async () => await deleteLink(bridge)),
      ...(["nat", "filter"] as const).flatMap((table) => [
        async () => await removeRules(openRules("iptables", table), layout.networkName),
        async () => (hasIpv6 ? await removeRules(openRules("ip6tables", table), layout.networkName) : undefined),
      ]),
      // The loopback guard goes after the bridge, through which pods reach the node.
      async () => await removeRules(unlessUnreadable(openRules("iptables", "raw")), layout.networkName),
      async () => await removeResults(layout.networkName, sandboxIds),
    ],
    `removing the network ${layout.networkName}`,
  );
}

/** Lists the bridges of the network; none where it was never prepared. */
export async function listBridges(layout: RuntimeLayout): Promise<string[]> {
  return readNetworkFacts((await readConfiguration(layout)) ?? "").bridges;
}

/**
 * Reads the facts from the text of a network list. The spacing does not matter, and the text may be torn or written by
 * a user who installs a network of their own.
 */
export function readNetworkFacts(configuration: string): { bridges: string[]; hasIpv6: boolean } {
  const bridges = [...configuration.matchAll(/"bridge"\s*:\s*"([^"/]+)"/g)].map(([, name = ""]) => name);
  return { bridges, hasIpv6: /"subnet"\s*:\s*"[0-9a-f]*:/i.test(configuration) };
}

/**
 * Removes the cached results of the network and of the loopbacks of its sandboxes. After another boot none of them is true any
 * more; a cut of the power leaves empty ones, for which containerd refuses to remove their sandboxes, for ever.
 */
export async function removeResults(
  networkName: string,
  sandboxIds: readonly string[],
  directory = CNI_RESULTS,
): Promise<void> {
  const results = await readdir(directory).catch(() => []);
  for (const name of planResultRemoval(results, networkName, sandboxIds)) {
    await rm(join(directory, name), { force: true });
  }
}

/**
 * Lists the cached results of the network (`<network>-<sandbox>-eth0`) and of the loopback of the same sandboxes
 * (`cni-loopback-<sandbox>-lo`). This includes a sandbox that was interrupted while it was made and that no list has.
 */
export function planResultRemoval(
  names: readonly string[],
  networkName: string,
  sandboxIds: readonly string[],
): string[] {
  const prefix = `${networkName}-`;
  const own = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length).split("-")[0]);
  const ids = new Set([...own, ...sandboxIds]);
  return names.filter((name) => name.startsWith(prefix) || [...ids].some((id) => name.includes(`-${id}-`)));
}

async function readConfiguration(layout: RuntimeLayout): Promise<string | undefined> {
  try {
    return await readFile(networkConfigPath(layout), "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function deleteLink(name: string): Promise<void> {
  const links = await readdir("/sys/class/net");
  if (links.includes(name)) await runCommand("ip", ["link", "delete", name]);
}

async function removeRules(rules: RuleAccess, networkName: string): Promise<void> {
  for (const args of planRuleRemoval(await readRules(rules), networkName)) await rules.change(args);
}

/** A kernel without the table cannot hold the guard. Its pods ended without one, and so they can be removed. */
function unlessUnreadable(rules: RuleAccess): RuleAccess {
  return { ...rules, list: async () => await rules.list().catch(() => "") };
}

/**
 * Computes arguments of iptables that remove the rules whose comment names the network and the chains that these jump
 * to: first all rules are removed, then each chain is emptied, then deleted.
 */
export function planRuleRemoval(rules: string, networkName: string): string[][] {
  const ours = findOwnRules(rules, networkName);
  const chains = new Set<string>();
  for (const args of ours) {
    const target = args[args.indexOf("-j") + 1] ?? "";
    if (/^CNI-(DN-)?[0-9a-f]{16,}$/.test(target)) chains.add(target);
  }
  const outside = ours.filter(([chain = ""]) => !chains.has(chain));
  return [
    ...outside.map((words) => ["-D", ...words]),
    ...[...chains].map((chain) => ["-F", chain]),
    ...[...chains].map((chain) => ["-X", chain]),
  ];
}
