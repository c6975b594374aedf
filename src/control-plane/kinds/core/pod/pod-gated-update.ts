import type { FieldError } from "../../../../api/field-error.ts";
import type { NodeAffinity, NodeSelectorTerm } from "../../../../api/gen/types.ts";
import { invalid } from "../../../../api/validation/problems.ts";
import { isSame } from "../../rules/semantic-changes.ts";

/**
 * The problems of a change of the node selector. While a pod is gated, labels may be added but not removed or changed.
 */
export function validateNodeSelectorUpdate(
  path: string,
  next: Readonly<Record<string, string>> = {},
  old: Readonly<Record<string, string>> = {},
): FieldError[] {
  const isKept = Object.entries(old).every(([label, value]) => next[label] === value);
  return isKept
    ? []
    : [invalid(path, next, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")];
}

/**
 * The problems of a change of the node affinity. While a pod is gated, required terms stay as many as they are and may
 * get further conditions; preferred terms may change.
 */
export function validateNodeAffinityUpdate(
  path: string,
  next: NodeAffinity | undefined,
  old: NodeAffinity | undefined,
): FieldError[] {
  const terms = next?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const before = old?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  if (before.length === 0) return [];
  const place = `${path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`;
  if (terms.length !== before.length) {
    return [invalid(place, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")];
  }
  return terms.flatMap((term, index) => {
    if (isStricter(term, before[index] ?? {})) return [];
    return [invalid(`${place}[${index}]`, term, "only additions are allowed (no mutations or deletions)")];
  });
}

function isStricter(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const { matchExpressions = [], matchFields = [] } = old;
  // A term without conditions matches nothing, so that any addition would widen it.
  if (matchExpressions.length === 0 && matchFields.length === 0) return isSame(old, term);
  const isPrefix = (before: readonly unknown[], after: readonly unknown[] = []) =>
    isSame(before, after.slice(0, before.length));
  return isPrefix(matchExpressions, term.matchExpressions) && isPrefix(matchFields, term.matchFields);
}
