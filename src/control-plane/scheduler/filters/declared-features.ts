import { computeRequiredFeatures } from "../../../api/declared-features.ts";
import type { PendingPod } from "../cluster.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const UNDECLARED: NodeRejection = { reasons: ["node(s) didn't match Pod's required features"], isFinal: true };

/** Turns down nodes whose agent does not declare a feature that the pod needs (`plugins/nodedeclaredfeatures`). */
export function filterDeclaredFeatures({ spec }: PendingPod): NodeFilter | undefined {
  const required = computeRequiredFeatures(spec);
  if (required.length === 0) return undefined;
  return ({ declaredFeatures }) => (required.every((name) => declaredFeatures.includes(name)) ? undefined : UNDECLARED);
}
