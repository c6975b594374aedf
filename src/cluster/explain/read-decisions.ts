import { isApiError } from "../../api/api-error.ts";
import type { KubeResource } from "../../api/kube-resource.ts";
import { messageOf } from "../../base/errors.ts";
import { DECISIONS_GROUP, DECISIONS_VERSION, type PodDecisions } from "../../explain/pod-decisions.ts";
import type { KubeClient, NamespacedName } from "../../kube/port.ts";
import { decodePodDecisions } from "./decode-explanation.ts";

const DECISIONS: KubeResource<PodDecisions> = {
  group: DECISIONS_GROUP,
  version: DECISIONS_VERSION,
  plural: "pods",
  kind: "PodDecisions",
  namespaced: true,
  read: decodePodDecisions,
};

/** Reads what the control plane has decided about a pod; a gap says why where it cannot be read. Never rejects. */
export async function readDecisions(
  client: Pick<KubeClient, "get">,
  { namespace, name }: NamespacedName,
): Promise<Pick<PodDecisions, "steps" | "gaps">> {
  try {
    return await client.get(DECISIONS, { namespace, name });
  } catch (error) {
    return decisionsUnknown(error);
  }
}

/** The decisions of a control plane that could not be asked, which says so. */
export function decisionsUnknown(error: unknown): Pick<PodDecisions, "steps" | "gaps"> {
  const unknown = "who deleted the pod, and which nodes were refused for it, is not told";
  return { steps: [], gaps: [`${unknown}: ${reasonOf(error)}`] };
}

function reasonOf(error: unknown): string {
  if (isApiError(error, "NotFound")) return "this API server is no nodelet";
  if (!isApiError(error, "Forbidden")) return messageOf(error);
  return `this API server is no nodelet, or you have no right to get pods of the group ${DECISIONS_GROUP}`;
}
