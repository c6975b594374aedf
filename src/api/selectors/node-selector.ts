import type { NodeSelectorRequirement, NodeSelectorTerm, PodSpec } from "../gen/types.ts";
import { parseInteger } from "./integer.ts";

/** The parts of a node that selectors read. */
export interface SelectableNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * True if the node matches the pod's `nodeSelector` and its required node affinity
 * (`component-helpers/scheduling/corev1/nodeaffinity`).
 */
export function matchesNodeAffinity(spec: PodSpec, node: SelectableNode): boolean {
  const { nodeSelector = {}, affinity } = spec;
  if (!Object.entries(nodeSelector).every(([key, value]) => labelOf(node, key) === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesAnyTerm(required.nodeSelectorTerms, node);
}

/** True if any term matches. No term, and a term without conditions, match no node. */
export function matchesAnyTerm(terms: readonly NodeSelectorTerm[], node: SelectableNode): boolean {
  return terms.some((term) => matchesTerm(term, node));
}

/** True if all conditions of the term hold; false for a term that has none. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: SelectableNode,
): boolean {
  if (matchExpressions.length === 0 && matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, labelOf(node, requirement.key))) &&
    matchFields.every((requirement) => holds(requirement, requirement.key === NAME_FIELD ? node.name : undefined))
  );
}

/**
 * Returns the nodes that the pod's required affinity names by `metadata.name`. Undefined when a term leaves the name
 * open, so that any node may match. Empty when the names in the terms contradict each other.
 */
export function computeNamedNodes({ affinity }: PodSpec): ReadonlySet<string> | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (terms.length === 0) return undefined;
  const named = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter(({ key, operator }) => key === NAME_FIELD && operator === "In");
    const [first, ...others] = lists.map(({ values = [] }) => values);
    if (first === undefined) return undefined;
    for (const name of first) if (others.every((list) => list.includes(name))) named.add(name);
  }
  return named;
}

const NAME_FIELD = "metadata.name";

function labelOf({ labels }: SelectableNode, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function holds({ operator, values = [] }: NodeSelectorRequirement, value: string | undefined): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt":
      return value !== undefined && isOrdered(operator, value, values[0] ?? "");
    default:
      return false;
  }
}

function isOrdered(operator: "Gt" | "Lt", value: string, bound: string): boolean {
  const [left, right] = [parseInteger(value), parseInteger(bound)];
  if (left === undefined || right === undefined) return false;
  return operator === "Gt" ? left > right : left < right;
}
