import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { repeat } from "../../base/interval.ts";
import type { Log } from "../../base/log.ts";
import type { RuleAccess } from "./iptables-rules.ts";

/** How long a rule that somebody removed is missing at most. The Go kubelet looks once a minute. */
export const GUARD_PERIOD_MS = 30_000;

/** Where the rules are. */
export interface GuardedTable {
  readonly rules: RuleAccess;
  readonly log: Log;
}

/** Each rule is the words after `-A`. */
export interface RulePlan {
  readonly missing: readonly string[][];
  readonly stale: readonly string[][];
}

/** What is guarded. */
interface GuardSubject {
  /** Told with each line of the log. */
  readonly network: Readonly<Record<string, string>>;
  plan(rules: string): RulePlan;
  /** What the log says when rules were gone, and when they cannot be had. */
  readonly words: { readonly removed: string; readonly failed: string };
}

/**
 * Keeps rules of a network in a table that belongs to the whole machine, where a firewall that is loaded anew begins with
 * the removal of all that it did not write itself.
 */
export interface RuleGuard {
  /** Puts the rules in place. False where that is not possible; the log then says why. */
  ensure(): Promise<boolean>;
  /** Puts back the rules that somebody removes, until the signal fires. Never rejects. */
  keep(clock: Clock, options: { periodMs: number; signal: AbortSignal }): Promise<void>;
}

/** Creates the guard of one network. It touches no rule of others. */
export function createRuleGuard({ rules, log }: GuardedTable, { network, plan, words }: GuardSubject): RuleGuard {
  let isTold = false;
  let failure = "";
  /** Counts the rules that were missing; undefined where the rules cannot be read or made. */
  const restore = async (): Promise<number | undefined> => {
    try {
      const { missing, stale } = plan(await rules.list());
      for (const rule of missing) await rules.change(["-I", ...rule]);
      for (const rule of stale) await rules.change(["-D", ...rule]);
      failure = "";
      return missing.length;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== failure) log.error(words.failed, { ...network, error: reason });
      failure = reason;
      return undefined;
    }
  };
  const look = async () => {
    const missing = await restore();
    if (missing === undefined || missing === 0 || isTold) return;
    isTold = true;
    log.warn(words.removed, { ...network, missing });
  };
  return {
    ensure: async () => (await restore()) !== undefined,
    async keep(clock, { periodMs, signal }) {
      try {
        await repeat(clock, { periodMs, signal, delayFirst: true }, look);
      } catch (error) {
        if (!isAbort(error)) throw error;
      }
    },
  };
}

/** Makes one guard of several. */
export function joinGuards(guards: ReadonlyArray<Pick<RuleGuard, "keep">>): Pick<RuleGuard, "keep"> {
  return {
    async keep(clock, options) {
      await Promise.all(guards.map(async (guard) => await guard.keep(clock, options)));
    },
  };
}
