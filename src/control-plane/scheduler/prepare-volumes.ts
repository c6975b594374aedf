import { isApiError } from "../../api/api-error.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { throwJoined } from "../../base/errors.ts";
import { SELECTED_NODE, withClaimRef } from "../claims/volume-claim-ref.ts";
import type { ControllerDeps } from "../control-loop/controller.ts";
import type { VolumePlan } from "./plan-volumes.ts";

/**
 * Gives volumes to the claims of a pod that will go to the node, and tells provisioners for which node to make the
 * missing ones. Then it writes into the pod's status on which node the pod is expected, so that the place is kept until
 * the claims are bound. All writes begin before the first of them ends, so that the next decision sees them. Rejects
 * with an ApiError when somebody else was faster; successful writes stay, and the next attempt continues from there.
 */
export async function prepareVolumes(
  { writer }: Pick<ControllerDeps, "writer">,
  object: KubeObject,
  { nodeName, volumes }: { nodeName: string; volumes: VolumePlan },
): Promise<void> {
  const reserved = volumes.bindings.flatMap(({ volume, claim }) => withClaimRef(volume, claim) ?? []);
  const asked = volumes.provisions.filter(({ metadata }) => metadata?.annotations?.[SELECTED_NODE] !== nodeName);
  const pod = typed("Pod", object);
  const isExpected = pod.status?.nominatedNodeName === nodeName;
  const results = await Promise.allSettled([
    ...reserved.map((volume) => writer.update("persistentvolumes", untyped(volume))),
    ...asked.map((claim) => {
      const annotations = { ...claim.metadata?.annotations, [SELECTED_NODE]: nodeName };
      const metadata = { ...claim.metadata, annotations };
      return writer.update("persistentvolumeclaims", untyped({ ...claim, metadata }));
    }),
    ...(isExpected
      ? []
      : [writer.update("pods", untyped({ ...pod, status: { ...pod.status, nominatedNodeName: nodeName } }), "status")]),
  ]);
  const errors = results.flatMap((result): unknown[] => (result.status === "rejected" ? [result.reason] : []));
  // One failed API call is enough to report; any other error is a bug.
  const bugs = errors.filter((error) => !isApiError(error));
  throwJoined(bugs.length > 0 ? bugs : errors.slice(0, 1), "preparing a pod's volumes");
}
