import { conflictError, isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed, untyped } from "../../../api/object.ts";
import { formatTime } from "../../../base/clock.ts";
import {
  consumerOf,
  DEVICE_CLAIM_FINALIZER,
  DEVICE_CLAIMS,
  hasReserved,
  readDeviceClaim,
} from "../../claims/device-claims.ts";
import type { ControllerDeps } from "../../control-loop/controller.ts";
import type { DevicePlan } from "./plan-devices.ts";

type Claim = ObjectOf<"ResourceClaim">;
type Deps = Pick<ControllerDeps, "reader" | "writer" | "clock">;

/**
 * Writes the devices into the pod's claims, and the pod as their user, before the pod is bound. Rejects with an ApiError
 * when somebody else was faster. What this call has given is taken back then; what stays of an interrupted call is a
 * claim that is reserved for the pod, with which the next attempt goes on.
 */
export async function reserveDevices(deps: Deps, pod: Pod, plan: DevicePlan): Promise<void> {
  const given: Claim[] = [];
  try {
    for (const { claim, allocation } of plan) {
      const written = await reserve(deps, pod, { claim, allocation });
      if (allocation !== undefined) given.push(written);
    }
  } catch (error) {
    for (const claim of given) await releaseDevices(deps, pod, claim);
    throw error;
  }
}

async function reserve(
  { reader, writer, clock }: Deps,
  pod: Pod,
  { claim, allocation }: DevicePlan[number],
): Promise<Claim> {
  const { namespace = "", name = "" } = claim.metadata;
  let current = readDeviceClaim(reader, namespace, name);
  const isGone = current?.metadata.uid !== claim.metadata.uid || current?.metadata.deletionTimestamp !== undefined;
  const isOther = (current?.status?.allocation === undefined) !== (allocation !== undefined);
  if (current === undefined || isGone || isOther) throw overtaken(name);
  if (hasReserved(pod, current)) return current;
  const { finalizers = [] } = current.metadata;
  if (allocation !== undefined && !finalizers.includes(DEVICE_CLAIM_FINALIZER)) {
    const metadata = { ...current.metadata, finalizers: [...finalizers, DEVICE_CLAIM_FINALIZER] };
    current = claimOf(await writer.update(DEVICE_CLAIMS, { ...current, metadata }));
  }
  const status = {
    ...current.status,
    ...(allocation && { allocation: { ...allocation, allocationTimestamp: formatTime(clock.now()) } }),
    reservedFor: [...(current.status?.reservedFor ?? []), consumerOf(pod)],
  };
  return claimOf(await writer.update(DEVICE_CLAIMS, untyped({ ...current, status }), "status"));
}

/**
 * Takes the devices of a claim back that nobody but the pod has reserved. Somebody who was faster knows better: then
 * nothing happens.
 */
export async function releaseDevices({ reader, writer }: Deps, pod: Pod, { metadata }: Claim): Promise<void> {
  const current = readDeviceClaim(reader, metadata.namespace ?? "", metadata.name ?? "");
  const { reservedFor = [] } = current?.status ?? {};
  const isOwn = reservedFor.every(({ uid }) => uid === pod.metadata?.uid);
  if (current === undefined || current.metadata.uid !== metadata.uid || !isOwn) return;
  try {
    await writer.update(DEVICE_CLAIMS, untyped({ ...current, status: {} }), "status");
  } catch (error) {
    if (!isApiError(error)) throw error;
  }
}

const claimOf = (object: KubeObject) => typed("ResourceClaim", object);

function overtaken(name: string) {
  const resource = { group: "resource.k8s.io", resource: "resourceclaims" };
  return conflictError(resource, name, "the claim was changed while its pod was scheduled");
}
