import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import {
  consumerOf,
  DEVICE_CLAIMS,
  deviceClaimNamesOf,
  hasReserved,
  readDeviceClaim,
} from "../../claims/device-claims.ts";
import type { ControllerDeps } from "../../control-loop/controller.ts";

/**
 * Reserves claims that have their devices for a pod that has its node: somebody put it there without the scheduler, which
 * reserves claims before it binds their pod.
 */
export async function reserveForPlacedPod(
  { reader, writer }: Pick<ControllerDeps, "reader" | "writer">,
  object: KubeObject,
): Promise<void> {
  const pod = typed("Pod", object);
  if ((pod.spec?.nodeName ?? "") === "") return;
  for (const name of deviceClaimNamesOf(pod)) {
    const claim = readDeviceClaim(reader, object.metadata.namespace ?? "", name);
    const { status = {} } = claim ?? {};
    if (claim === undefined || status.allocation === undefined || hasReserved(pod, claim)) continue;
    const reservedFor = [...(status.reservedFor ?? []), consumerOf(pod)];
    await writer.update(DEVICE_CLAIMS, untyped({ ...claim, status: { ...status, reservedFor } }), "status");
  }
}
