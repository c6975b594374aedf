import { isApiError } from "../../../api/api-error.ts";
import type { Pod } from "../../../api/gen/types.ts";
import { PODS } from "../../../api/kube-resource.ts";
import { isMirrorPod, podReference, podUid } from "../../../api/pods.ts";
import type { KubeClient } from "../../../kube/port.ts";
import { makeMirrorPod } from "./make-mirror-pod.ts";

/** The API server's pod of the mirror's name after an action. */
export type MirrorChange =
  /** This mirror, of the right manifest or not. */
  | { readonly kind: "present"; readonly mirror: Pod }
  /** The mirror that was to be deleted is gone. */
  | { readonly kind: "absent" }
  /** A pod that is no mirror of this node. */
  | { readonly kind: "taken"; readonly by: Pod };

/** Makes one request for an action, or two where another pod has the name already. */
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
        // As a rule another pod than the meant one has the name; but it may be the same pod, which was only changed.
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
