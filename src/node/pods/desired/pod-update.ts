import type { Pod } from "../../../api/gen/types.ts";
import type { PodSource } from "../../../api/pods.ts";

/**
 * What changed in one source:
 * - `ADD`: pods that were not there; without pods it says that the source was read for the first time.
 * - `UPDATE`: the specification, labels or annotations changed.
 * - `DELETE`: asked to end gracefully (`deletionTimestamp`); still there.
 * - `REMOVE`: no longer there.
 * - `RECONCILE`: somebody else changed the status only.
 */
export interface PodUpdate {
  op: PodUpdateOp;
  source: PodSource;
  pods: Pod[];
}

export type PodUpdateOp = "ADD" | "UPDATE" | "DELETE" | "REMOVE" | "RECONCILE";
