import { isRecord } from "../../api/object.ts";
import { runCommand } from "../processes/run-command.ts";

/** A firewall that drops what it was not told of. No rule elsewhere accepts for it: each table judges by itself. */
export interface ForeignFirewall {
  /** As `nft` prints it: `inet filter`. */
  readonly table: string;
  /** Its chain; undefined for firewalld, whose chains nobody else may change. */
  readonly chain: string | undefined;
  /** Whether it judges what passes through this machine, or what this machine itself receives. */
  readonly hook: "forward" | "input";
}

/** The tables of iptables, which have a guard of their own. */
const IPTABLES = ["ip filter", "ip6 filter"];
const FIREWALLD = "inet firewalld";

/** Lists them; none where nftables is missing or does not answer. */
export async function readForeignFirewalls(nft = "nft"): Promise<ForeignFirewall[]> {
  return findForeignFirewalls(await runCommand(nft, ["--json", "list", "chains"]).catch(() => ""));
}

/** Finds them in what `nft --json list chains` prints. */
export function findForeignFirewalls(printed: string): ForeignFirewall[] {
  return readChains(printed).flatMap(({ family, table: name, name: chain, hook, policy }): ForeignFirewall[] => {
    const table = `${family} ${name}`;
    if ((hook !== "forward" && hook !== "input") || IPTABLES.includes(table)) return [];
    // Its policy is to accept, and its last rule rejects.
    if (table === FIREWALLD) return [{ table, chain: undefined, hook }];
    return policy === "drop" ? [{ table, chain: String(chain), hook }] : [];
  });
}

/** The command that lets the packets of pods pass. */
export function computeFirewallMend({ table, chain, hook }: ForeignFirewall, bridge: string): string {
  if (chain === undefined)
    return `firewall-cmd --permanent --zone=trusted --add-interface=${bridge} && firewall-cmd --reload`;
  const sides = hook === "forward" ? ["iifname", "oifname"] : ["iifname"];
  return sides.map((side) => `nft insert rule ${table} ${chain} ${side} ${bridge} accept`).join(" && ");
}

function readChains(printed: string): Array<Record<string, unknown>> {
  try {
    const { nftables } = JSON.parse(printed);
    return Array.isArray(nftables) ? nftables.map((entry) => entry?.chain).filter(isRecord) : [];
  } catch {
    return [];
  }
}
