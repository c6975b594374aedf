import { findOwnRules, ruleComment } from "./iptables-rules.ts";
import { createRuleGuard, type GuardedTable, type RuleGuard, type RulePlan } from "./rule-guard.ts";

/** Pods of one address family, and the name of their network. */
interface MasqueradedPods {
  readonly networkName: string;
  /** The range of the pods' addresses. */
  readonly range: string;
}

/**
 * Creates the guard of the way out: who is not a pod knows no address of pods, so what pods send there comes from the
 * node. The plugin `bridge` could make rules of the same meaning for each pod when it starts. It would run iptables several
 * times for each, and nobody would make them again after `systemctl reload nftables`, which removes all rules of the
 * machine.
 */
export function createMasqueradeGuard(table: GuardedTable, pods: MasqueradedPods): RuleGuard {
  return createRuleGuard(table, {
    network: { ...pods },
    plan: (rules) => planMasqueradeGuard(rules, pods),
    words: {
      removed: "somebody removed the rule by which pods call from the node's address; it is back",
      failed: "pods do not reach what is beyond this node: their calls cannot have the node's address",
    },
  });
}

/** Compares the rules of the table `nat` with the one of this guard. One for another range is stale. */
export function planMasqueradeGuard(rules: string, { networkName, range }: MasqueradedPods): RulePlan {
  const start = `${ruleComment(networkName)} calls of pods of `;
  const comment = `${start}${range}`;
  const own = findOwnRules(rules, networkName).filter((words) => words.some((word) => word.startsWith(start)));
  // The range is not compared, because the kernel prints it in a form of its own.
  const isCurrent = (words: readonly string[]) => words.includes(comment);
  return {
    missing: own.some(isCurrent) ? [] : [computeRule(range, comment)],
    stale: own.filter((words) => !isCurrent(words)),
  };
}

/** Pods see each other's own addresses, and multicast stays on their bridge. */
function computeRule(range: string, comment: string): string[] {
  const outside = ["-s", range, "!", "-d", range, "-m", "addrtype", "!", "--dst-type", "MULTICAST"];
  return ["POSTROUTING", ...outside, "-m", "comment", "--comment", comment, "-j", "MASQUERADE"];
}
