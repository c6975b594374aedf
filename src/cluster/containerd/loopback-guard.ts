import { isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { repeat } from "../../base/interval.ts";
import type { Log } from "../../base/log.ts";
import { findOwnRules, type RuleAccess, ruleComment } from "./iptables-rules.ts";

/** How long a guard that somebody removed is missing at most. The Go kubelet looks once a minute. */
export const GUARD_PERIOD_MS = 30_000;

const LOOPBACK_RANGE = "127.0.0.0/8";

/** The network that is guarded. */
interface GuardedNetwork {
  readonly networkName: string;
  readonly bridge: string;
}

interface GuardDeps {
  /** The table `raw` of IPv4. */
  readonly rules: RuleAccess;
  readonly log: Log;
}

/**
 * Keeps pods from the servers that listen on the node's loopback (CVE-2020-8558).
 *
 * The plugin `portmap` sets `route_localnet` on the bridge, so that host ports answer on 127.0.0.1. The kernel then
 * takes packets to 127.0.0.0/8 from pods, too, and any pod that may set a route or send raw packets reaches what
 * believes itself private to the node. Two rules drop these packets, and those that pretend to come from there, as soon
 * as they enter the bridge. No packet of a pod has such an address for a good reason: the answers of host ports are
 * addressed to the bridge when they arrive.
 *
 * The Go kubelet drops only in `filter`, after address translation, and so lets a pod reach a host port whose `hostIP` is
 * 127.0.0.1 (pkg/kubelet/kubelet_network_linux.go). The table `raw` comes before it. IPv6 needs no rule: the kernel
 * drops packets from or to ::1 that come from outside, and has no switch for it.
 */
export interface LoopbackGuard {
  /** Puts the rules in place. False where that is not possible; the log then says why. */
  ensure(): Promise<boolean>;
  /** Puts back the rules that somebody removes, until the signal fires. Never rejects. */
  keep(clock: Clock, options: { periodMs: number; signal: AbortSignal }): Promise<void>;
}

/** Creates the guard of one network. It touches no rule of others. */
export function createLoopbackGuard({ rules, log }: GuardDeps, network: GuardedNetwork): LoopbackGuard {
  let isTold = false;
  let failure = "";
  /** Counts the rules that were missing; undefined where the rules cannot be read or made. */
  const restore = async (): Promise<number | undefined> => {
    try {
      const { missing, stale } = planLoopbackGuard(await rules.list(), network);
      for (const words of missing) await rules.change(["-I", ...words]);
      for (const words of stale) await rules.change(["-D", ...words]);
      failure = "";
      return missing.length;
    } catch (error) {
      const reason = messageOf(error);
      if (reason !== failure) log.error("pods cannot be kept from the node's loopback", { ...network, error: reason });
      failure = reason;
      return undefined;
    }
  };
  const look = async () => {
    const missing = await restore();
    if (missing === undefined || missing === 0 || isTold) return;
    isTold = true;
    const what = "somebody removed the rules that keep pods from the node's loopback; they are back";
    log.warn(what, { ...network, missing });
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

/**
 * Compares the rules with those that the network needs. Each rule is the words after `-A`. Rules of another bridge stay
 * until the network is removed: pods from before a change of the name may still be on that bridge.
 */
export function planLoopbackGuard(
  rules: string,
  network: GuardedNetwork,
): { missing: readonly string[][]; stale: readonly string[][] } {
  const isOfBridge = (words: readonly string[]) => words[words.indexOf("-i") + 1] === network.bridge;
  const present = findOwnRules(rules, network.networkName).filter(isOfBridge);
  const wanted = computeGuardRules(network);
  return {
    missing: wanted.filter((rule) => !present.some((other) => isSameRule(rule, other))),
    stale: present.filter((rule) => !wanted.some((other) => isSameRule(rule, other))),
  };
}

function computeGuardRules({ networkName, bridge }: GuardedNetwork): string[][] {
  const comment = `${ruleComment(networkName)} the loopback belongs to the node`;
  return ["-d", "-s"].map((side) => {
    return ["PREROUTING", side, LOOPBACK_RANGE, "-i", bridge, "-m", "comment", "--comment", comment, "-j", "DROP"];
  });
}

/** Programs print the conditions of a rule in an order of their own. */
function isSameRule(one: readonly string[], other: readonly string[]): boolean {
  return one.toSorted().join("\0") === other.toSorted().join("\0");
}
