import { isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { PODS } from "../../../api/kube-resource.ts";
import { isMirrorPod, podReference, podUid } from "../../../api/pods.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { makeMirrorPod } from "./make-mirror-pod.ts";

/** What an action left in the API under the mirror's name. */
export type MirrorChange =
  /** This mirror, of the right manifest or not. */
  | { readonly kind: "present"; readonly mirror: Pod }
  /** Not the mirror that was to be deleted. */
  | { readonly kind: "absent" }
  /** A pod that is none of ours. */
  | { readonly kind: "taken"; readonly by: Pod };

/** One request for an action, or two where somebody was there first. */
interface MirrorChanges {
  create(staticPod: Pod, nodeUid: string, signal: AbortSignal): Promise<MirrorChange>;
  remove(mirror: Pod, signal: AbortSignal): Promise<MirrorChange>;
}

/** Creates and deletes mirrors. Repeating a call whose answer was lost does no harm. Rejects as the client does. */
export function createMirrorChanges(
  client: Pick<KubeClient, "create" | "delete" | "get">,
  nodeName: string,
): MirrorChanges {
  return {
    async create(staticPod, nodeUid, signal) {
      try {
        const mirror = await client.create(PODS, makeMirrorPod(staticPod, { nodeName, nodeUid }), { signal });
        return { kind: "present", mirror };
      } catch (error) {
        if (!isApiError(error, "AlreadyExists")) throw error;
      }
      const { namespace, name } = podReference(staticPod);
      const found = await client.get(PODS, { namespace, name }, { signal });
      const isOurs = isMirrorPod(found) && found.spec?.nodeName === nodeName;
      return isOurs ? { kind: "present", mirror: found } : { kind: "taken", by: found };
    },
    async remove(mirror, signal) {
      const { namespace, name } = podReference(mirror);
      try {
        await client.delete(PODS, { namespace, name }, { gracePeriodSeconds: 0, uid: podUid(mirror), signal });
      } catch (error) {
        if (isApiError(error, "NotFound")) return { kind: "absent" };
        if (!isApiError(error, "Conflict")) throw error;
        // As a rule another pod has the name, which is not the one that was meant; but somebody may only be changing it.
        const found = await client.get(PODS, { namespace, name }, { signal }).catch(unlessNotFound);
        if (found !== undefined && podUid(found) === podUid(mirror)) throw error;
      }
      return { kind: "absent" };
    },
  };
}

function unlessNotFound(error: unknown): undefined {
  if (!isApiError(error, "NotFound")) throw error;
}
