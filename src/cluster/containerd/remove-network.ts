import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { runCommand } from "../processes/run-command.ts";
import type { RuntimeLayout } from "./runtime-layout.ts";

/** Where CNI's library keeps the result of each ADD; the place is fixed. */
const CNI_RESULTS = "/var/lib/cni/results";

/**
 * Removes what the CNI plugins leave on the machine when pods end without a CNI DEL: the bridge, rules of the nat table
 * and cached results. Only what bears the name of this network or of one of its sandboxes.
 */
export async function removeNetwork(layout: RuntimeLayout, sandboxIds: readonly string[]): Promise<void> {
  const bridge = await readBridge(layout);
  if (bridge === undefined) return;
  await deleteLink(bridge);
  const rules = await readNatRules();
  for (const args of planRuleRemoval(rules, layout.networkName)) {
    await runCommand("iptables", ["--wait", "--table", "nat", ...args]);
  }
  const results = await readdir(CNI_RESULTS).catch(() => []);
  for (const name of planResultRemoval(results, layout.networkName, sandboxIds)) {
    await rm(join(CNI_RESULTS, name), { force: true });
  }
}

/**
 * The cached results of the network (`<network>-<sandbox>-eth0`) and of the loopback of the same sandboxes
 * (`cni-loopback-<sandbox>-lo`), also of a sandbox that was cut off while it was made and that nobody lists.
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

async function readBridge(layout: RuntimeLayout): Promise<string | undefined> {
  try {
    const text = await readFile(join(layout.cniConfigDirectory, "10-nodelet.conflist"), "utf8");
    return /"bridge": "([^"/]+)"/.exec(text)?.[1];
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function deleteLink(name: string): Promise<void> {
  const links = await readdir("/sys/class/net");
  if (links.includes(name)) await runCommand("ip", ["link", "delete", name]);
}

/** Empty where there is no iptables: then no plugin made a rule either. */
async function readNatRules(): Promise<string> {
  try {
    return await runCommand("iptables", ["--wait", "--table", "nat", "--list-rules"]);
  } catch (error) {
    if (codeOf(error) === "not-found") return "";
    throw error;
  }
}

/**
 * Arguments of iptables that remove the rules whose comment names the network and the chains that these jump to:
 * first all rules, then each chain emptied, then deleted.
 */
export function planRuleRemoval(rules: string, networkName: string): string[][] {
  const ours = rules
    .split("\n")
    .filter((line) => line.startsWith("-A "))
    .map(splitRule)
    .filter((args) => args.some((arg) => arg.includes(`name: "${networkName}"`)));
  const chains = new Set<string>();
  for (const args of ours) {
    const target = args[args.indexOf("-j") + 1] ?? "";
    if (/^CNI-(DN-)?[0-9a-f]{16,}$/.test(target)) chains.add(target);
  }
  const outside = ours.filter((args) => !chains.has(args[1] ?? ""));
  return [
    ...outside.map(([, ...rest]) => ["-D", ...rest]),
    ...[...chains].map((chain) => ["-F", chain]),
    ...[...chains].map((chain) => ["-X", chain]),
  ];
}

/** Splits a rule as `iptables -S` prints it: words, and strings in double quotes with backslash escapes. */
function splitRule(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|(\S+)/g)].map((match) => {
    return match[2] ?? (match[1] ?? "").replaceAll(/\\(.)/g, "$1");
  });
}
