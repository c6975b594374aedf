import { type KubeObject, type ObjectOf, typed } from "../../../src/api/object.ts";
import { isTerminalPhase } from "../../../src/api/pods.ts";
import type { Entry, Ledger } from "./ledger.ts";

export type StoredPod = ObjectOf<"Pod">;

/** The reference to the object's controller. */
export function controllerOf({ metadata }: KubeObject) {
  return metadata.ownerReferences?.find(({ controller }) => controller === true);
}

/** The pods that the object controls, those included that are ending. */
export function podsOf(ledger: Ledger, { metadata }: KubeObject): StoredPod[] {
  const own = ledger.list("pods").filter((pod) => controllerOf(pod)?.uid === metadata.uid);
  return own.map((pod) => typed("Pod", pod));
}

/** It has not ended, and nobody has asked it to. */
export function isActive({ metadata, status }: StoredPod): boolean {
  return metadata.deletionTimestamp === undefined && !isTerminalPhase(status?.phase);
}

/** The owner of the pod's kind, as it is now; undefined where it has another, or that is gone. */
export function ownerOf(ledger: Ledger, object: KubeObject, resource: string, kind: string): KubeObject | undefined {
  const reference = controllerOf(object);
  if (reference?.kind !== kind) return undefined;
  const owner = ledger.get(resource, reference.name, object.metadata.namespace);
  return owner?.metadata.uid === reference.uid ? owner : undefined;
}

/** The pod that somebody has just asked to end; undefined for any other change. A deletion without a grace counts. */
export function newlyEnded({ type, resource, object, previous }: Entry): StoredPod | undefined {
  if (resource !== "pods" || previous === undefined) return undefined;
  const isEnding = type === "DELETED" || object.metadata.deletionTimestamp !== undefined;
  if (!isEnding || previous.metadata.deletionTimestamp !== undefined) return undefined;
  return typed("Pod", previous);
}

/** True for a workload that stands, and is not on its way out with all that it has. */
export function isStanding(object: KubeObject | undefined): object is KubeObject {
  return object !== undefined && object.metadata.deletionTimestamp === undefined;
}

/** True for a pod that was deleted because its node got a taint: no workload's controller decided so. */
export function isEndedByTaint({ status }: StoredPod): boolean {
  return status?.conditions?.some(({ reason }) => reason === "DeletionByTaintManager") === true;
}
