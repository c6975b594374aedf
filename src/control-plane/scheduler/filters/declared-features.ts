import { computeRequiredFeatures } from "../../../api/declared-features.ts";
import type { PendingPod } from "../cluster.ts";
import type { NodeFilter, NodeRejection } from "./filter.ts";

const UNDECLARED: NodeRejection = { reasons: ["node(s) didn't match Pod's required features"], isFinal: true };

/** What the pod needs of a node agent, and nodes of some versions do not have (`plugins/nodedeclaredfeatures`). */
export function filterDeclaredFeatures({ spec }: PendingPod): NodeFilter | undefined {
  const required = computeRequiredFeatures(spec);
  if (required.length === 0) return undefined;
  return ({ declaredFeatures }) => (required.every((name) => declaredFeatures.includes(name)) ? undefined : UNDECLARED);
}
