import type { Pod, PodResourceClaim, ResourceClaimConsumerReference } from "../../api/gen/types.ts";
import { type ObjectOf, typed } from "../../api/object.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import type { ResourceReader } from "../ports/resources.ts";

/** Where claims of devices are stored, and what is stored with them. */
export const DEVICE_CLAIMS = "resourceclaims.resource.k8s.io";
/** Keeps a claim as long as devices are allocated to it. */
export const DEVICE_CLAIM_FINALIZER = "resource.kubernetes.io/delete-protection";

/** A claim of devices, or nothing where the entry needs none. */
export type DeviceClaimName =
  | { readonly kind: "none" }
  /** The claim of a template that no controller has made yet. */
  | { readonly kind: "not-made" }
  | { readonly kind: "named"; readonly name: string; readonly isOwned: boolean };

/** The claim that the entry of the pod's claims stands for. A claim that was made for the pod must be owned by it. */
export function deviceClaimNameOf({ status }: Pod, entry: PodResourceClaim): DeviceClaimName {
  if (entry.resourceClaimName !== undefined) return { kind: "named", name: entry.resourceClaimName, isOwned: false };
  const made = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (made === undefined) return { kind: "not-made" };
  const { resourceClaimName: name } = made;
  return name === undefined ? { kind: "none" } : { kind: "named", name, isOwned: true };
}

/** The names of the pod's claims that there are by now. */
export function deviceClaimNamesOf(pod: Pod): string[] {
  return (pod.spec?.resourceClaims ?? []).flatMap((entry) => {
    const claim = deviceClaimNameOf(pod, entry);
    return claim.kind === "named" ? [claim.name] : [];
  });
}

/** Reads a claim in its stored state. */
export function readDeviceClaim(
  reader: Pick<ResourceReader, "get">,
  namespace: string,
  name: string,
): ObjectOf<"ResourceClaim"> | undefined {
  const found = reader.get({ resource: DEVICE_CLAIMS, namespace, name });
  return found && typed("ResourceClaim", found);
}

/** Why a claim that was made for a pod is not this pod's; undefined when it is. */
export function whyForeignDevices(
  { metadata: pod = {} }: Pod,
  { metadata: claim }: Pick<ObjectOf<"ResourceClaim">, "metadata">,
): string | undefined {
  const { ownerReferences = [] } = claim;
  if (ownerReferences.some(({ controller, uid }) => controller === true && uid === pod.uid)) return undefined;
  return `ResourceClaim ${namespacedKeyOf(claim)} was not created for Pod ${namespacedKeyOf(pod)} (Pod is not owner)`;
}

/** The pod as a user of a claim. */
export function consumerOf({ metadata }: Pod): ResourceClaimConsumerReference {
  const { name = "", uid = "" } = metadata ?? {};
  return { resource: "pods", name, uid };
}

/** True when the claim is reserved for the pod. */
export function hasReserved({ metadata }: Pod, { status }: Pick<ObjectOf<"ResourceClaim">, "status">): boolean {
  return (status?.reservedFor ?? []).some(({ uid }) => uid === metadata?.uid);
}

/** True for a pod none of whose containers runs, now or later: it has ended, or is deleted before it got a node. */
export function isPodDone({ metadata, spec, status }: Pod): boolean {
  const isUnplaced = (spec?.nodeName ?? "") === "";
  return isTerminalPhase(status?.phase) || (metadata?.deletionTimestamp !== undefined && isUnplaced);
}
