import { isAbort } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import { repeat } from "../../base/interval.ts";
import type { Log } from "../../base/log.ts";
import type { HostPortSandbox, HostPortSandboxes } from "./host-port-sandboxes.ts";
import { findOwnRules, type RuleAccess } from "./iptables-rules.ts";
import type { RuleGuard } from "./rule-guard.ts";

/** What a guard of host ports needs. */
interface HostPortGuardDeps {
  readonly sandboxes: HostPortSandboxes;
  /** The table `nat` of each family that pods have. */
  readonly rules: ReadonlyMap<"IPv4" | "IPv6", Pick<RuleAccess, "list">>;
  readonly log: Log;
}

/** The chain in which the plugin `portmap` has a rule for each sandbox and protocol, and the chains that lead there. */
const ENTRY_CHAIN = "CNI-HOSTPORT-DNAT";
const WAYS_IN = ["PREROUTING", "OUTPUT"];
/** Somebody may remove the rules again at once. A plugin whose rules are never seen has another place for them. */
const MOST_UNSEEN = 3;

/**
 * Creates the guard of host ports. The plugin `portmap` makes their rules when a pod starts, and nobody makes them again:
 * after `systemctl reload nftables`, which removes all rules of the machine, the host ports of pods that run would lead nowhere.
 * The plugin makes them anew, as it was told at the start, so that nothing here knows how they look but where they hang.
 */
export function createHostPortGuard(
  { sandboxes, rules, log }: HostPortGuardDeps,
  networkName: string,
): Pick<RuleGuard, "keep"> {
  /** How often the rules of a sandbox were not where they are looked for although the plugin had just made them. */
  const unseen = new Map<string, number>();
  let isTold = false;
  let failure = "";

  const findMissing = async (all: readonly HostPortSandbox[]): Promise<HostPortSandbox[]> => {
    const missing = new Set<HostPortSandbox>();
    for (const [family, table] of rules) {
      const ofFamily = all.filter(({ families }) => families.has(family));
      if (ofFamily.length === 0) continue;
      for (const sandbox of withoutRules(await table.list(), networkName, ofFamily)) missing.add(sandbox);
    }
    return [...missing];
  };

  const restore = async (missing: readonly HostPortSandbox[]) => {
    for (const sandbox of missing) {
      await sandboxes.call("ADD", sandbox);
      // The pod may have ended meanwhile, and nobody would remove the rules.
      if (!(await sandboxes.isThere(sandbox))) await sandboxes.call("DEL", sandbox);
    }
    const stillMissing = new Set(missing.length === 0 ? [] : await findMissing(missing));
    for (const sandbox of missing) {
      const { id } = sandbox;
      if (stillMissing.has(sandbox)) unseen.set(id, (unseen.get(id) ?? 0) + 1);
      else unseen.delete(id);
    }
    return missing.length - stillMissing.size;
  };

  const look = async () => {
    try {
      const all = await sandboxes.list();
      const ids = new Set(all.map(({ id }) => id));
      for (const id of unseen.keys()) if (!ids.has(id)) unseen.delete(id);
      const guarded = all.filter(({ id }) => (unseen.get(id) ?? 0) < MOST_UNSEEN);
      const restored = await restore(await findMissing(guarded));
      failure = "";
      if (restored === 0 || isTold) return;
      isTold = true;
      log.warn("somebody removed the rules of host ports; they are back", { networkName, sandboxes: restored });
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== failure) log.error("the rules of host ports cannot be put back", { networkName, error: reason });
      failure = reason;
    }
  };

  return {
    async keep(clock, { periodMs, signal }) {
      try {
        await repeat(clock, { periodMs, signal, delayFirst: true }, look);
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

/** Which of the sandboxes are not led to: a rule of theirs is gone, or what is behind it, or every way to it. */
export function withoutRules(
  text: string,
  networkName: string,
  sandboxes: readonly HostPortSandbox[],
): HostPortSandbox[] {
  const lines = text.split("\n");
  const isLedTo = WAYS_IN.every((chain) =>
    lines.some((line) => line.startsWith(`-A ${chain} `) && line.includes(`-j ${ENTRY_CHAIN}`)),
  );
  if (!isLedTo) return [...sandboxes];
  const own = findOwnRules(text, networkName).filter(([chain]) => chain === ENTRY_CHAIN);
  return sandboxes.filter(({ id }) => {
    const targets = own
      .filter((words) => words.some((word) => word.includes(`id: "${id}"`)))
      .map((words) => words[words.indexOf("-j") + 1] ?? "");
    const leads = (target: string) =>
      lines.some((line) => line.startsWith(`-A ${target} `) && line.includes("-j DNAT"));
    return targets.length === 0 || !targets.every(leads);
  });
}
