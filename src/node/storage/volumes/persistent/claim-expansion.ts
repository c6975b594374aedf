import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimCondition,
  PersistentVolumeClaimStatus,
} from "../../../../api/gen/types.ts";
import { compareQuantities } from "../../../../api/quantity.ts";

/** What this node has to do about a volume that may have grown. */
export type ExpansionPlan =
  /** The file system is as large as the volume. */
  | { readonly kind: "none" }
  /** A controller has to decide first, and may choose another size. */
  | { readonly kind: "wait" }
  /** `mark`: the claim's status shall say that it is under way. `tell`: the status shall say what came of it. */
  | { readonly kind: "expand"; readonly mark: boolean; readonly tell: boolean };

/** A resizer writes it on claims whose volumes need no work of nodes. */
const NOT_REQUIRED_ANNOTATION = "volume.kubernetes.io/node-expansion-not-required";

const PENDING = "NodeResizePending";
const IN_PROGRESS = "NodeResizeInProgress";
const INFEASIBLE = "NodeResizeInfeasible";
const ERROR_CONDITION = "NodeResizeError";
const RESIZE_CONDITIONS: readonly string[] = [
  "FileSystemResizePending",
  "Resizing",
  "ControllerResizeError",
  ERROR_CONDITION,
];

/**
 * Decides as upstream's `expandVolumeDuringMount` and `NodeExpander.runPreCheck` do. `knownSize` is the size to which this
 * node last expanded the volume; undefined: it has not, since the volume was mounted.
 */
export function planExpansion(
  { metadata, spec, status }: PersistentVolumeClaim,
  { volumeSize, knownSize }: { volumeSize: string | undefined; knownSize: string | undefined },
): ExpansionPlan {
  const claimSize = status?.capacity?.["storage"];
  const current = knownSize ?? claimSize;
  if (volumeSize === undefined || current === undefined || compareQuantities(volumeSize, current) <= 0) {
    return { kind: "none" };
  }
  const isTold = claimSize !== undefined && compareQuantities(claimSize, volumeSize) >= 0;
  const progress = status?.allocatedResourceStatuses?.["storage"];
  // Resizers from before 1.23 write neither of the two, and do not wait for the node.
  if (progress === undefined && status?.allocatedResources === undefined) {
    return { kind: "expand", mark: false, tell: !isTold };
  }
  if (isTold && progress === undefined) {
    // Another node has finished first, which happens with volumes that several nodes write to; each has to do its part.
    const isShared = spec?.accessModes?.includes("ReadWriteMany") === true;
    const isLeftOut = metadata?.annotations?.[NOT_REQUIRED_ANNOTATION] !== undefined;
    return isShared && !isLeftOut ? { kind: "expand", mark: false, tell: false } : { kind: "none" };
  }
  if (progress === PENDING) return { kind: "expand", mark: true, tell: true };
  return progress === IN_PROGRESS ? { kind: "expand", mark: false, tell: true } : { kind: "wait" };
}

/** The claim's status while the driver expands the volume. */
export function markExpanding({ status = {} }: PersistentVolumeClaim): PersistentVolumeClaimStatus {
  return {
    ...status,
    allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: IN_PROGRESS },
  };
}

/** The claim's status once the expansion has succeeded. */
export function markExpanded({ status = {} }: PersistentVolumeClaim, size: string): PersistentVolumeClaimStatus {
  const { allocatedResourceStatuses = {}, ...rest } = status;
  const { storage: _ended, ...others } = allocatedResourceStatuses;
  return {
    ...rest,
    capacity: { ...status.capacity, storage: size },
    conditions: (status.conditions ?? []).filter(({ type }) => !RESIZE_CONDITIONS.includes(type)),
    ...(Object.keys(others).length > 0 && { allocatedResourceStatuses: others }),
  };
}

/**
 * Whether the claim's author has asked for another size since the last attempt failed for good. The controller decides then,
 * once this node says that it cannot go on.
 */
export function isOverruled({ spec, status }: PersistentVolumeClaim, volumeSize: string): boolean {
  const hasFailed = status?.conditions?.some(({ type, status: value }) => type === ERROR_CONDITION && value === "True");
  const requested = spec?.resources?.requests?.["storage"];
  return hasFailed === true && requested !== undefined && compareQuantities(requested, volumeSize) !== 0;
}

/** The claim's status after the driver refused. `isInfeasible`: the driver will refuse this size again. */
export function markFailed(
  { status = {} }: PersistentVolumeClaim,
  failure: { readonly message: string; readonly isInfeasible: boolean; readonly now: string },
): PersistentVolumeClaimStatus {
  const { conditions = [] } = status;
  const known = conditions.find(({ type, status: value }) => type === ERROR_CONDITION && value === "True");
  const condition: PersistentVolumeClaimCondition = known ?? {
    type: ERROR_CONDITION,
    status: "True",
    lastTransitionTime: failure.now,
    message: `failed to expand pvc with ${failure.message}`,
  };
  return {
    ...status,
    conditions: [...conditions.filter(({ type }) => type !== ERROR_CONDITION), condition],
    ...(failure.isInfeasible && {
      allocatedResourceStatuses: { ...status.allocatedResourceStatuses, storage: INFEASIBLE },
    }),
  };
}
