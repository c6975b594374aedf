import { type KubeObject, typed } from "../../api/object.ts";
import { claimKeysOf } from "../claims/pod-claims.ts";
import { BIND_COMPLETED } from "../claims/volume-claim-ref.ts";
import { storageClassOf } from "../claims/volume-match.ts";
import { type Controller, type ControllerDeps, runFollowingWithEvents } from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../control-loop/object-index.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { type BinderDeps, CLAIMS, STORAGE_CLASSES, VOLUMES } from "./binder-deps.ts";
import { syncClaim } from "./sync-claim.ts";
import { syncVolume } from "./sync-volume.ts";

const COMPONENT = "persistentvolume-controller";
const VOLUME_PREFIX = "volume ";

/**
 * Binds claims to existing volumes, and keeps the state of both as long as they live
 * (`pkg/controller/volume/persistentvolume`). It makes no volumes: it asks the provisioner of a class for one, and for
 * classes that wait for a pod the scheduler chooses. It works on one object at a time, so that no two claims get the
 * same volume.
 */
export function createVolumeBinder(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const pods = createObjectIndex(claimKeysOf);
  /** The unbound claims by their class, to which a change of a volume may matter. */
  const unboundOfClass = createObjectIndex(unboundClassOf);
  const claimsOfVolume = createObjectIndex(volumeNamesOf);
  const volumesOfClaim = createObjectIndex(claimKeyOf);
  const binder: BinderDeps = { ...deps, events, podsOf: pods.keysOf };
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "persistent-volume-binder",
    workers: 1,
    async reconcile(key) {
      if (!key.startsWith(VOLUME_PREFIX)) await syncClaim(binder, key);
      else {
        const claim = await syncVolume(binder, key.slice(VOLUME_PREFIX.length));
        if (claim !== undefined) queue.add(claim);
      }
      return undefined;
    },
  });
  const addAll = (keys: readonly string[]) => {
    for (const key of keys) queue.add(key);
  };
  const addVolume = (name: string) => queue.add(`${VOLUME_PREFIX}${name}`);
  const addVolumesOf = (claimKey: string) => {
    for (const key of volumesOfClaim.keysOf(claimKey)) addVolume(key.slice(1));
  };

  const followClaim = (event: ResourceEvent) => {
    unboundOfClass.apply(event);
    claimsOfVolume.apply(event);
    const key = namespacedKeyOf(event.object.metadata);
    if (event.type !== "DELETED") queue.add(key);
    addVolumesOf(key);
  };
  const followVolume = (event: ResourceEvent) => {
    const before = event.previous === undefined ? [] : claimKeyOf(event.previous);
    volumesOfClaim.apply(event);
    const { name = "" } = event.object.metadata;
    const now = claimKeyOf(event.object);
    if (event.type !== "DELETED") addVolume(name);
    addAll([...before, ...now, ...claimsOfVolume.keysOf(name)]);
    if (event.type !== "DELETED" && now.length === 0) {
      addAll(unboundOfClass.keysOf(classKey(storageClassOf(typed("PersistentVolume", event.object)))));
    }
  };
  const followPod = (event: ResourceEvent) => {
    pods.apply(event);
    for (const key of claimKeysOf(event.object)) {
      // A claim that waits for a pod has to report it, and a volume that waits for its pods to end may continue.
      if (event.type === "ADDED") queue.add(key);
      addVolumesOf(key);
    }
  };
  const follow = () => [
    deps.feed.follow("pods", followPod),
    deps.feed.follow(CLAIMS, followClaim),
    deps.feed.follow(VOLUMES, followVolume),
    deps.feed.follow(STORAGE_CLASSES, ({ object }) => {
      addAll(unboundOfClass.keysOf(classKey(object.metadata.name ?? "")));
      // The class may have become the default class.
      addAll(unboundOfClass.keysOf(classKey("")));
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

const classKey = (name: string) => `class ${name}`;

/** The class of a claim that is not bound yet. */
function unboundClassOf(object: KubeObject): readonly string[] {
  const claim = typed("PersistentVolumeClaim", object);
  const isBound = claim.metadata.annotations?.[BIND_COMPLETED] !== undefined;
  return isBound ? [] : [classKey(storageClassOf(claim))];
}

function volumeNamesOf(object: KubeObject): readonly string[] {
  const { volumeName = "" } = typed("PersistentVolumeClaim", object).spec ?? {};
  return volumeName === "" ? [] : [volumeName];
}

function claimKeyOf(object: KubeObject): readonly string[] {
  const { claimRef } = typed("PersistentVolume", object).spec ?? {};
  return claimRef === undefined ? [] : [namespacedKeyOf(claimRef)];
}
