import type { FieldError } from "../field-error.ts";
import type { Affinity, NodeAffinity, PodAffinity, PodAffinityTerm } from "../gen/types.ts";
import { validateLabelSelector, validateSelectorLabelKeys } from "./label-selector.ts";
import { checkDnsLabel, checkQualifiedName } from "./names.ts";
import { validateNodeSelector, validateNodeSelectorTerm } from "./node-selector.ts";
import { each, invalid, invalidEach, required } from "./problems.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";

/** Validates to which nodes and beside which pods a pod wants to be, or not to be. */
export function validateAffinity(path: string, affinity: Affinity | undefined): FieldError[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return [
    ...(nodeAffinity ? validateNodeAffinity(`${path}.nodeAffinity`, nodeAffinity) : []),
    ...(podAffinity ? validatePodAffinity(`${path}.podAffinity`, podAffinity) : []),
    ...(podAntiAffinity ? validatePodAffinity(`${path}.podAntiAffinity`, podAntiAffinity) : []),
  ];
}

function validateNodeAffinity(path: string, { [REQUIRED]: selector, [PREFERRED]: terms }: NodeAffinity): FieldError[] {
  return [
    ...(selector ? validateNodeSelector(`${path}.${REQUIRED}`, selector, { allowsAnyValue: false }) : []),
    ...each(`${path}.${PREFERRED}`, terms, ({ weight, preference }, at) => [
      ...validateWeight(at, weight),
      ...validateNodeSelectorTerm(`${at}.preference`, preference, { allowsAnyValue: true }),
    ]),
  ];
}

function validatePodAffinity(path: string, { [REQUIRED]: terms, [PREFERRED]: preferred }: PodAffinity): FieldError[] {
  return [
    ...each(`${path}.${REQUIRED}`, terms, validateTerm),
    ...each(`${path}.${PREFERRED}`, preferred, ({ weight, podAffinityTerm }, at) => [
      ...validateWeight(at, weight),
      ...validateTerm(podAffinityTerm, `${at}.podAffinityTerm`),
    ]),
  ];
}

function validateWeight(path: string, weight: number): FieldError[] {
  return weight >= 1 && weight <= 100 ? [] : [invalid(`${path}.weight`, weight, "must be in the range 1-100")];
}

function validateTerm(term: PodAffinityTerm, path: string): FieldError[] {
  const { topologyKey, labelSelector, namespaceSelector, namespaces = [] } = term;
  return [
    ...validateLabelSelector(`${path}.labelSelector`, labelSelector),
    ...validateLabelSelector(`${path}.namespaceSelector`, namespaceSelector),
    // The path is upstream's, without an index.
    ...namespaces.flatMap((name) => invalidEach(`${path}.namespace`, name, checkDnsLabel(name))),
    ...validateSelectorLabelKeys(path, term),
    ...(topologyKey === "" ? [required(`${path}.topologyKey`, "can not be empty")] : []),
    ...invalidEach(`${path}.topologyKey`, topologyKey, checkQualifiedName(topologyKey)),
  ];
}
