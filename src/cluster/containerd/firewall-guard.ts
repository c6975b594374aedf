import { findOwnRules, isSameRule, ruleComment } from "./iptables-rules.ts";
import { createRuleGuard, type GuardedTable, type RuleGuard, type RulePlan } from "./rule-guard.ts";

/** The network whose packets pass. */
interface AdmittedNetwork {
  readonly networkName: string;
  readonly bridge: string;
}

/**
 * Creates the guard that keeps a firewall from the packets of pods, by rules of one family's table `filter`.
 *
 * Docker sets the policy of `FORWARD` to DROP, as ufw does, and where bridges call iptables that cuts even two pods of
 * this node from each other. Two rules let through what enters the bridge from elsewhere and what leaves it. A third lets
 * pods call those servers of this machine that a service leads to, where the policy of `INPUT` is DROP: the API and the
 * cluster's DNS. The machine's other servers stay behind the firewall.
 */
export function createFirewallGuard(table: GuardedTable, network: AdmittedNetwork): RuleGuard {
  return createRuleGuard(table, {
    network: { ...network },
    plan: (rules) => planFirewallGuard(rules, network),
    words: {
      removed: "somebody removed the rules that let the packets of pods pass a firewall; they are back",
      failed: "a firewall of this machine may drop the packets of pods",
    },
  });
}

/** Compares the rules with those that the network needs. Rules of another bridge stay until the network is removed. */
export function planFirewallGuard(rules: string, network: AdmittedNetwork): RulePlan {
  const present = findOwnRules(rules, network.networkName);
  return {
    missing: computeRules(network).filter((rule) => !present.some((other) => isSameRule(rule, other))),
    stale: [],
  };
}

function computeRules({ networkName, bridge }: AdmittedNetwork): string[][] {
  const accepted = ["-m", "comment", "--comment", `${ruleComment(networkName)} packets of pods`, "-j", "ACCEPT"];
  return [
    ["FORWARD", "-i", bridge, ...accepted],
    ["FORWARD", "-o", bridge, ...accepted],
    ["INPUT", "-i", bridge, "-m", "conntrack", "--ctstate", "DNAT", ...accepted],
  ];
}
