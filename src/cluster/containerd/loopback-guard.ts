import { findOwnRules, isSameRule, ruleComment } from "./iptables-rules.ts";
import { createRuleGuard, type GuardedTable, type RuleGuard, type RulePlan } from "./rule-guard.ts";

const LOOPBACK_RANGE = "127.0.0.0/8";

/** The network that is guarded. */
interface GuardedNetwork {
  readonly networkName: string;
  readonly bridge: string;
}

/**
 * Creates the guard that keeps pods from the servers that listen on the node's loopback (CVE-2020-8558), by rules of the
 * table `raw` of IPv4.
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
export function createLoopbackGuard(table: GuardedTable, network: GuardedNetwork): RuleGuard {
  return createRuleGuard(table, {
    network: { ...network },
    plan: (rules) => planLoopbackGuard(rules, network),
    words: {
      removed: "somebody removed the rules that keep pods from the node's loopback; they are back",
      failed: "pods cannot be kept from the node's loopback",
    },
  });
}

/**
 * Compares the rules with those that the network needs. Rules of another bridge stay until the network is removed: pods
 * from before a change of the name may still be on that bridge.
 */
export function planLoopbackGuard(rules: string, network: GuardedNetwork): RulePlan {
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
