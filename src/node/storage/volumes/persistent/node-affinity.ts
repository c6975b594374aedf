import type { PersistentVolume } from "../../../../api/gen/types.ts";
import { matchesAnyTerm, type SelectableNode } from "../../../../api/selectors/node-selector.ts";

/**
 * Whether the volume can be had on this node, as `CheckNodeAffinity` of component-helpers/storage/volume asks before a
 * mount: the scheduler has asked too, but not for a pod that names its node itself.
 */
export function isOnNode({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}
