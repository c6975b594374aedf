import type { ResourceClaimConsumerReference } from "../../../api/gen/types.ts";
import { type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { DEVICE_CLAIM_FINALIZER, DEVICE_CLAIMS, isPodDone, readDeviceClaim } from "../../claims/device-claims.ts";
import { type ControllerDeps, unlessOvertaken } from "../../control-loop/controller.ts";
import type { ResourceReader } from "../../ports/resources.ts";

type Claim = ObjectOf<"ResourceClaim">;

/**
 * Removes from a claim the pods that do not need it any more. Without users it gives its devices back, a deleted one is
 * let go, and one that was made for a pod that does not run any more is deleted. Reads pods in their stored state,
 * because the feed may be older than a reservation.
 */
export async function settleDeviceClaim(
  { reader, writer }: Pick<ControllerDeps, "reader" | "writer">,
  { namespace, name }: { namespace: string; name: string },
): Promise<void> {
  const claim = readDeviceClaim(reader, namespace, name);
  if (claim === undefined) return;
  const { reservedFor = [] } = claim.status ?? {};
  const remaining = reservedFor.filter((user) => isUser(reader, namespace, user));
  const isUnused = remaining.length === 0;
  const isEnding = remaining.length < reservedFor.length || claim.metadata.deletionTimestamp !== undefined;
  if (isEnding) await withdraw({ writer }, claim, remaining);
  if (isUnused && isOwnerDone(reader, claim)) {
    const preconditions = { uid: claim.metadata.uid ?? "" };
    await unlessOvertaken(writer.remove({ resource: DEVICE_CLAIMS, namespace, name }, { preconditions }));
  }
}

/** True while the user may need the claim. Users that are no pods take care of themselves. */
function isUser(
  reader: ResourceReader,
  namespace: string,
  { apiGroup = "", resource, name, uid }: ResourceClaimConsumerReference,
): boolean {
  if (apiGroup !== "" || resource !== "pods") return true;
  const pod = reader.get({ resource: "pods", namespace, name });
  return pod !== undefined && pod.metadata.uid === uid && !isPodDone(typed("Pod", pod));
}

/** Writes who still uses the claim; with the last user go its devices and what protects them. */
async function withdraw(
  { writer }: Pick<ControllerDeps, "writer">,
  claim: Claim,
  reservedFor: ResourceClaimConsumerReference[],
): Promise<void> {
  const isProtected = (claim.metadata.finalizers ?? []).includes(DEVICE_CLAIM_FINALIZER);
  const isUnused = reservedFor.length === 0;
  const { allocation, reservedFor: before = [], ...rest } = claim.status ?? {};
  const kept = isUnused && isProtected ? undefined : allocation;
  let current = claim;
  if (reservedFor.length < before.length || kept !== allocation) {
    const status = { ...rest, ...(kept && { allocation: kept }), ...(!isUnused && { reservedFor }) };
    current = typed("ResourceClaim", await writer.update(DEVICE_CLAIMS, untyped({ ...claim, status }), "status"));
  }
  if (!isProtected || !isUnused) return;
  const finalizers = (current.metadata.finalizers ?? []).filter((name) => name !== DEVICE_CLAIM_FINALIZER);
  await writer.update(DEVICE_CLAIMS, { ...current, metadata: { ...current.metadata, finalizers } });
}

/** True for a claim that was made for a pod that has ended, or that another pod of its name has replaced. */
function isOwnerDone(reader: ResourceReader, { metadata }: Claim): boolean {
  const owner = (metadata.ownerReferences ?? []).find(({ controller, apiVersion, kind }) => {
    return controller === true && apiVersion === "v1" && kind === "Pod";
  });
  if (owner === undefined) return false;
  const pod = reader.get({ resource: "pods", namespace: metadata.namespace ?? "", name: owner.name });
  return pod !== undefined && (pod.metadata.uid !== owner.uid || isPodDone(typed("Pod", pod)));
}
