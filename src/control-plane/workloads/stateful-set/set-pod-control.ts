import { ApiError, isApiError } from "../../../api/api-error.ts";
import type { StatefulSet } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, untyped } from "../../../api/object.ts";
import { messageOf } from "../../../base/errors.ts";
import type { ControllerDeps } from "../../control-loop/controller.ts";
import type { EventRecorder } from "../../control-loop/record-events.ts";
import { computeClaimOwners, isOfFormerOwner } from "./claim-retention.ts";
import { claimsOfPod, type SetClaim, withIdentity } from "./set-pod.ts";

const CLAIMS = "persistentvolumeclaims";

type StoredSet = KubeObject & StatefulSet;
type StoredPod = ObjectOf<"Pod">;
type SetPodDeps = Pick<ControllerDeps, "reader" | "writer"> & { readonly events: EventRecorder };

/** Makes, repairs and deletes the pods of a set with their claims, and tells so in upstream's words. */
export interface SetPodControl {
  /** Makes the claims first. Rejects with an ApiError, after the event FailedCreate. */
  create(set: StoredSet, ordinal: number, pod: StoredPod): Promise<void>;
  /** Brings the labels of a pod in order and the owners of its claims, and makes claims that a pending pod lacks. */
  repair(set: StoredSet, ordinal: number, pod: StoredPod): Promise<void>;
  /** Lets the claims go with the pod where the set's policy wants that. It comes before the pod's deletion. */
  condemn(set: StoredSet, ordinal: number, pod: StoredPod): Promise<void>;
  remove(set: StoredSet, pod: StoredPod): Promise<void>;
  /** True while a claim is there that goes with a pod of before. It is asked about ordinals without a pod. */
  hasStaleClaim(set: StoredSet, ordinal: number): boolean;
}

/** The control in the name of the component that the recorder writes for. */
export function createSetPodControl(deps: SetPodDeps): SetPodControl {
  return {
    async create(set, ordinal, pod) {
      await telling(deps, { set, pod, verb: "Create" }, async () => {
        await makeClaims(deps, { set, ordinal, pod });
        await deps.writer.create("pods", pod);
      });
      await retainClaims(deps, { set, ordinal, pod }, false);
    },
    async repair(set, ordinal, pod) {
      if (pod.status?.phase === "Pending" && pod.metadata.deletionTimestamp === undefined) {
        await makeClaims(deps, { set, ordinal, pod });
      }
      await retainClaims(deps, { set, ordinal, pod }, false);
      const labelled = withIdentity(pod, ordinal);
      if (labelled === undefined) return;
      await telling(deps, { set, pod, verb: "Update" }, async () => {
        await deps.writer.update("pods", labelled);
      });
    },
    condemn: (set, ordinal, pod) => retainClaims(deps, { set, ordinal, pod }, true),
    async remove(set, pod) {
      const { namespace = "", name = "", uid } = pod.metadata;
      await telling(deps, { set, pod, verb: "Delete" }, async () => {
        const preconditions = { ...(uid !== undefined && { uid }) };
        const cause = `the controller of its StatefulSet ${set.metadata.name ?? ""}`;
        await orGone(deps.writer.remove({ resource: "pods", namespace, name }, { preconditions, cause }));
      });
    },
    hasStaleClaim(set, ordinal) {
      if (set.spec?.persistentVolumeClaimRetentionPolicy?.whenScaled !== "Delete") return false;
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: `${set.metadata.name ?? ""}-${ordinal}` } };
      return claimsOfPod(set, ordinal).some((wanted) => {
        const found = readClaim(deps, wanted);
        return found !== undefined && isOfFormerOwner(found, pod);
      });
    },
  };
}

interface PodOfSet {
  readonly set: StoredSet;
  readonly ordinal: number;
  readonly pod: StoredPod;
}

function readClaim({ reader }: SetPodDeps, { claim }: SetClaim): KubeObject | undefined {
  const { namespace = "", name = "" } = claim.metadata ?? {};
  return reader.get({ resource: CLAIMS, namespace, name });
}

/** Rejects while a claim of the name is being deleted: the pod would be bound to what goes. */
async function makeClaims(deps: SetPodDeps, { set, ordinal, pod }: PodOfSet): Promise<void> {
  const { events, writer } = deps;
  const podName = pod.metadata.name ?? "";
  for (const wanted of claimsOfPod(set, ordinal)) {
    const name = wanted.claim.metadata?.name ?? "";
    const found = readClaim(deps, wanted);
    if (found?.metadata.deletionTimestamp !== undefined) throw new ApiError("Conflict", `pvc ${name} is being deleted`);
    if (found !== undefined) continue;
    try {
      await writer.create(CLAIMS, untyped(wanted.claim));
      const message = `Create Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name} success`;
      events.record({ about: set, type: "Normal", reason: "SuccessfulCreate", message });
    } catch (error) {
      if (isApiError(error, "AlreadyExists")) continue;
      const where = `for Pod ${podName} in StatefulSet ${set.metadata.name}`;
      const message = `Create Claim ${name} ${where} failed error: ${messageOf(error)}`;
      if (isApiError(error)) events.record({ about: set, type: "Warning", reason: "FailedCreate", message });
      throw error;
    }
  }
}

async function retainClaims(deps: SetPodDeps, { set, ordinal, pod }: PodOfSet, isCondemned: boolean): Promise<void> {
  for (const wanted of claimsOfPod(set, ordinal)) {
    const claim = readClaim(deps, wanted);
    if (claim === undefined) continue;
    const { owners, isForeign } = computeClaimOwners(claim, { set, pod, isCondemned });
    if (isForeign) {
      const message = `PersistentVolumeClaim ${claim.metadata.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`;
      deps.events.record({ about: set, type: "Warning", reason: "ConflictingController", message });
    }
    if (owners === undefined) continue;
    const { ownerReferences: _before, ...metadata } = claim.metadata;
    const owned = { ...metadata, ...(owners.length > 0 && { ownerReferences: [...owners] }) };
    await orGone(deps.writer.update(CLAIMS, { ...claim, metadata: owned }));
  }
}

/** Tells how the work on a pod ended. */
async function telling(
  { events }: SetPodDeps,
  { set, pod, verb }: { set: StoredSet; pod: StoredPod; verb: "Create" | "Update" | "Delete" },
  work: () => Promise<void>,
): Promise<void> {
  const what = `${verb} Pod ${pod.metadata.name} in StatefulSet ${set.metadata.name}`;
  try {
    await work();
  } catch (error) {
    // The pod of that name is another's, or was made by a reconciliation of before.
    if (!isApiError(error) || error.reason === "AlreadyExists") throw error;
    const message = `${what} failed error: ${messageOf(error)}`;
    events.record({ about: set, type: "Warning", reason: `Failed${verb}`, message });
    throw error;
  }
  events.record({ about: set, type: "Normal", reason: `Successful${verb}`, message: `${what} successful` });
}

/** An object that is gone, or another of that name, needs no work. */
async function orGone(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isApiError(error, "NotFound")) throw error;
  }
}
