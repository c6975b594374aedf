import type { NetworkPolicy } from "../../api/gen/types.ts";
import { ADDRESS_FAMILIES, type AddressFamily, type RuleFragment } from "../rules/fragment.ts";
import type { RuleCompiler, RuleInput } from "../rules/rule-compiler.ts";
import { computePolicyBase, type PolicyPlace } from "./policy-base.ts";
import { type PolicyPod, readNamespaceLabels, readPolicyPod } from "./policy-pods.ts";
import { computePolicyFragment, type NamedPolicy } from "./policy-rules.ts";

/** Longer names are cut; the number tells them apart. */
const MAX_NAME_CHARACTERS = 100;
const BASE_FRAGMENT = "policy";

/**
 * Compiles network policies into chains, and the pods that they are about into sets. Whatever changes, all policies are
 * looked at again, which costs as much as there are pods for each selector; what differs in the table is the sets alone
 * where pods came or went.
 */
export function createPolicyCompiler(place: PolicyPlace): RuleCompiler {
  const pods = new Map<string, PolicyPod>();
  const namespaces = new Map<string, Readonly<Record<string, string>>>();
  const policies = new Map<string, NamedPolicy>();
  let numbers = 0;

  const notePolicy = (key: string, policy: NetworkPolicy | undefined) => {
    if (policy === undefined) {
      policies.delete(key);
      return;
    }
    const name =
      policies.get(key)?.name ?? `policy-${++numbers}-${key.replace("/", "-")}`.slice(0, MAX_NAME_CHARACTERS);
    policies.set(key, { policy, name });
  };

  /** True where the change may matter to a policy. */
  const note = (changed: RuleInput): boolean => {
    const { type, object } = changed.change;
    const key = `${object.metadata?.namespace ?? ""}/${object.metadata?.name ?? ""}`;
    switch (changed.kind) {
      case "NetworkPolicy":
        notePolicy(key, type === "DELETED" ? undefined : changed.change.object);
        return true;
      case "Namespace":
        if (type === "DELETED") namespaces.delete(object.metadata?.name ?? "");
        else namespaces.set(object.metadata?.name ?? "", readNamespaceLabels(changed.change.object));
        return true;
      case "Pod": {
        const before = pods.get(key);
        const after = type === "DELETED" ? undefined : readPolicyPod(changed.change.object);
        if (after === undefined) pods.delete(key);
        else pods.set(key, after);
        return JSON.stringify(before) !== JSON.stringify(after);
      }
      default:
        return false;
    }
  };

  return {
    kinds: ["NetworkPolicy", "Namespace", "Pod"],
    compile(changes) {
      const fragments: Record<AddressFamily, Map<string, RuleFragment | undefined>> = { ip: new Map(), ip6: new Map() };
      const before = [...policies.keys()];
      const isChanged = changes.map(note).includes(true);
      if (!isChanged || before.length + policies.size === 0) return { fragments, staleFlows: [] };
      const cluster = { pods: [...pods.values()], namespaces };
      const known = [...policies.values()];
      for (const family of ADDRESS_FAMILIES) {
        fragments[family].set(BASE_FRAGMENT, computePolicyBase(known, { ...place, pods: cluster.pods, family }));
        for (const key of before) if (!policies.has(key)) fragments[family].set(`policy ${key}`, undefined);
        for (const [key, named] of policies) {
          fragments[family].set(`policy ${key}`, computePolicyFragment(named, cluster, family));
        }
      }
      return { fragments, staleFlows: [] };
    },
  };
}
