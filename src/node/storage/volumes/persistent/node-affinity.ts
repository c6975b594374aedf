import type { PersistentVolume } from "../../../../api/gen/types.ts";
import { matchesAnyTerm, type SelectableNode } from "../../../../api/selectors/node-selector.ts";

/**
 * Whether the volume may be used on this node, as `CheckNodeAffinity` of component-helpers/storage/volume checks before
 * a mount. The scheduler has checked it too, but not for pods that name their node themselves.
 */
export function isOnNode({ spec }: PersistentVolume, node: SelectableNode): boolean {
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms;
  return terms === undefined || matchesAnyTerm(terms, node);
}
