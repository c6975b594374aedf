import { isApiError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { messageOf } from "../../base/errors.ts";
import { claimKeysOf, isPodTerminated, type PodClaim, podClaimsOf, whyForeign } from "../claims/pod-claims.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../control-loop/object-index.ts";
import { podNameOf } from "../control-loop/pods-by-node.ts";
import { createEventRecorder, type EventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

const COMPONENT = "ephemeral_volume";
const CLAIMS = "persistentvolumeclaims";

/**
 * Makes the claims of pods' generic ephemeral volumes, named `<pod>-<volume>` (`pkg/controller/volume/ephemeral`). The
 * pod owns its claims, so that they are deleted with it. A claim that is deleted while its pod lives is made again.
 */
export function createEphemeralClaims(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const pods = createObjectIndex(claimKeysOf);
  const queue = createWorkQueue(deps, {
    name: "ephemeral_volume",
    async reconcile(key) {
      const object = deps.reader.get(podNameOf(key));
      if (object !== undefined) await makeClaims({ ...deps, events }, object);
      return undefined;
    },
  });
  const follow = () => [
    deps.feed.follow("pods", (event) => {
      pods.apply(event);
      if (event.type !== "DELETED" && hasEphemeral(event.object)) queue.add(namespacedKeyOf(event.object.metadata));
    }),
    deps.feed.follow(CLAIMS, ({ type, object }) => {
      if (type === "DELETED") for (const key of pods.keysOf(namespacedKeyOf(object.metadata))) queue.add(key);
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

const ephemeralOf = (pod: Pod) => podClaimsOf(pod).filter(({ isEphemeral }) => isEphemeral);
const hasEphemeral = (object: KubeObject) => ephemeralOf(typed("Pod", object)).length > 0;

async function makeClaims(deps: ControllerDeps & { events: EventRecorder }, object: KubeObject): Promise<void> {
  const pod = typed("Pod", object);
  if (object.metadata.deletionTimestamp !== undefined || isPodTerminated(pod)) return;
  for (const wanted of ephemeralOf(pod)) {
    const problem = await makeClaim(deps, object, wanted);
    if (problem === undefined) continue;
    const message = `ephemeral volume ${wanted.volume.name}: ${problem}`;
    deps.events.record({ about: object, type: "Warning", reason: "FailedBinding", message });
  }
}

/** Makes the claim, and records an event when it cannot be made. Rejects when a later attempt may succeed. */
async function makeClaim(
  { reader, writer, events }: ControllerDeps & { events: EventRecorder },
  object: KubeObject,
  wanted: PodClaim,
): Promise<string | undefined> {
  const { namespace = "" } = object.metadata;
  const found = reader.get({ resource: CLAIMS, namespace, name: wanted.claim });
  if (found !== undefined) return whyForeign(typed("Pod", object), typed("PersistentVolumeClaim", found));
  try {
    await writer.create(CLAIMS, claimFor(object, wanted));
    return undefined;
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.reason === "AlreadyExists") throw error;
    const message = `ephemeral volume ${wanted.volume.name}: create PVC ${wanted.claim}: ${messageOf(error)}`;
    events.record({ about: object, type: "Warning", reason: "FailedBinding", message });
    throw error;
  }
}

function claimFor({ metadata: pod }: KubeObject, { volume, claim }: PodClaim): KubeObject {
  const { metadata = {}, spec = {} } = volume.ephemeral?.volumeClaimTemplate ?? {};
  const { labels, annotations } = metadata;
  const { name = "", namespace = "", uid = "" } = pod;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: {
      name: claim,
      namespace,
      ...(labels && { labels }),
      ...(annotations && { annotations }),
      ownerReferences: [{ apiVersion: "v1", kind: "Pod", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  };
}
