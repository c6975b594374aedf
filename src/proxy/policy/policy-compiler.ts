import { ADDRESS_FAMILIES, type AddressFamily, type RuleElement, type RuleFragment } from "../rules/fragment.ts";
import type { RuleCompiler, RuleInput } from "../rules/rule-compiler.ts";
import { computePolicyBase, type PolicyPlace } from "./policy-base.ts";
import { type LabelsOfNamespaces, type PolicyPod, readNamespaceLabels, readPolicyPod } from "./policy-pods.ts";
import { computePodElements, computePolicyFragment, type ReadPolicy, readPolicy } from "./policy-rules.ts";

/** Longer names are cut; the number tells them apart. */
const MAX_NAME_CHARACTERS = 100;
const BASE_FRAGMENT = "policy";

/** What changed, by keys. */
interface Touched {
  readonly pods: Set<string>;
  readonly namespaces: Set<string>;
  readonly policies: Set<string>;
}

type ByFamily<T> = Readonly<Record<AddressFamily, T>>;

/**
 * Compiles network policies into chains, and the pods that they are about into sets. A policy has a fragment, which
 * depends on no pod, and each pod has one, with its elements of all policies. A pod that changes is looked at by all
 * policies, a policy that changes looks at all pods, and nobody else is looked at again.
 */
export function createPolicyCompiler(place: PolicyPlace): RuleCompiler {
  const pods = new Map<string, PolicyPod>();
  const namespaces = new Map<string, Readonly<Record<string, string>>>();
  const policies = new Map<string, ReadPolicy>();
  /** The elements of each pod, by policy. */
  const elements = new Map<string, Map<string, ByFamily<readonly RuleElement[]>>>();
  let numbers = 0;

  const notePolicy = (key: string, { change }: Extract<RuleInput, { kind: "NetworkPolicy" }>) => {
    if (change.type === "DELETED") {
      policies.delete(key);
      return;
    }
    const before = policies.get(key)?.name;
    const name = before ?? `policy-${++numbers}-${key.replace("/", "-")}`.slice(0, MAX_NAME_CHARACTERS);
    policies.set(key, readPolicy(change.object, name));
  };
  /** True where a policy may see a difference. */
  const notePod = (key: string, { change }: Extract<RuleInput, { kind: "Pod" }>): boolean => {
    const before = pods.get(key);
    const after = change.type === "DELETED" ? undefined : readPolicyPod(change.object);
    if (after === undefined) pods.delete(key);
    else pods.set(key, after);
    return JSON.stringify(before) !== JSON.stringify(after);
  };
  const note = (changed: RuleInput, touched: Touched) => {
    const { type, object } = changed.change;
    const name = object.metadata?.name ?? "";
    const key = `${object.metadata?.namespace ?? ""}/${name}`;
    switch (changed.kind) {
      case "NetworkPolicy":
        notePolicy(key, changed);
        touched.policies.add(key);
        return;
      case "Namespace":
        if (type === "DELETED") namespaces.delete(name);
        else namespaces.set(name, readNamespaceLabels(changed.change.object));
        touched.namespaces.add(name);
        return;
      case "Pod":
        if (notePod(key, changed)) touched.pods.add(key);
        return;
      default:
        return;
    }
  };

  /** Has the policies look at the pod. */
  const renewElements = (key: string, pod: PolicyPod | undefined, looking: Iterable<string>) => {
    const ofPod = elements.get(key) ?? new Map<string, ByFamily<readonly RuleElement[]>>();
    for (const one of looking) {
      const policy = policies.get(one);
      const found = pod === undefined || policy === undefined ? NO_ELEMENTS : elementsOf(policy, pod, namespaces);
      if (found.ip.length + found.ip6.length === 0) ofPod.delete(one);
      else ofPod.set(one, found);
    }
    if (ofPod.size === 0) elements.delete(key);
    else elements.set(key, ofPod);
  };
  /** Returns the keys of the pods whose elements may be others now. */
  const renewPods = (touched: Touched): string[] => {
    const renewed: string[] = [];
    for (const key of new Set([...touched.pods, ...pods.keys()])) {
      const pod = pods.get(key);
      const isTouched = touched.pods.has(key) || (pod !== undefined && touched.namespaces.has(pod.namespace));
      if (!isTouched && touched.policies.size === 0) continue;
      const before = elements.has(key);
      renewElements(key, pod, isTouched ? new Set([...policies.keys(), ...touched.policies]) : touched.policies);
      if (before || elements.has(key)) renewed.push(key);
    }
    return renewed;
  };
  const fragmentOfPod = (key: string, family: AddressFamily): RuleFragment | undefined => {
    const ofPod = elements.get(key);
    return ofPod === undefined ? undefined : { elements: [...ofPod.values()].flatMap((found) => found[family]) };
  };

  return {
    kinds: ["NetworkPolicy", "Namespace", "Pod"],
    compile(changes) {
      const fragments: Record<AddressFamily, Map<string, RuleFragment | undefined>> = { ip: new Map(), ip6: new Map() };
      const touched: Touched = { pods: new Set(), namespaces: new Set(), policies: new Set() };
      for (const change of changes) note(change, touched);
      const isChanged = touched.pods.size + touched.namespaces.size + touched.policies.size > 0;
      if (!isChanged || policies.size + touched.policies.size === 0) return { fragments, staleFlows: [] };
      const renewed = renewPods(touched);
      const all = { pods: [...pods.values()], namespaces };
      for (const family of ADDRESS_FAMILIES) {
        const base = computePolicyBase([...policies.values()], { ...place, ...all, family });
        fragments[family].set(BASE_FRAGMENT, base);
        for (const key of touched.policies) {
          const policy = policies.get(key);
          const fragment = policy === undefined ? undefined : computePolicyFragment(policy, family);
          fragments[family].set(`policy ${key}`, fragment);
        }
        for (const key of renewed) fragments[family].set(`policy-pod ${key}`, fragmentOfPod(key, family));
      }
      return { fragments, staleFlows: [] };
    },
  };
}

const NO_ELEMENTS: ByFamily<readonly RuleElement[]> = { ip: [], ip6: [] };

function elementsOf(
  policy: ReadPolicy,
  pod: PolicyPod,
  namespaces: LabelsOfNamespaces,
): ByFamily<readonly RuleElement[]> {
  return {
    ip: computePodElements(policy, pod, { namespaces, family: "ip" }),
    ip6: computePodElements(policy, pod, { namespaces, family: "ip6" }),
  };
}
