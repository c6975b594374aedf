import type { PersistentVolumeClaim } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { claimKeysOf, podClaimsOf, whyForeign } from "../claims/pod-claims.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../control-loop/namespaced-key.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";

const CLAIMS = "persistentvolumeclaims";
const VOLUMES = "persistentvolumes";
const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";

/**
 * Keeps a deleted claim until no pod with a node uses it. Ended pods count, because their node may still be unmounting
 * (`pkg/controller/volume/pvcprotection`). Reads all pods in their stored state, because the feed may be older than a
 * pod that has just got its node.
 */
export function createClaimProtection(deps: ControllerDeps): Controller {
  const isUsed = (claim: KubeObject) => {
    return deps.reader
      .list("pods", claim.metadata.namespace ?? "")
      .some((pod) => usesClaim(pod, typed("PersistentVolumeClaim", claim)));
  };
  const queue = createWorkQueue(deps, {
    name: "pvcprotection",
    async reconcile(key) {
      const claim = deps.reader.get({ resource: CLAIMS, ...splitNamespacedKey(key) });
      if (claim !== undefined) await protect(deps, claim, { resource: CLAIMS, finalizer: CLAIM_FINALIZER, isUsed });
      return undefined;
    },
  });
  const follow = () => [
    deps.feed.follow("pods", ({ object }) => {
      for (const key of claimKeysOf(object)) queue.add(key);
    }),
    deps.feed.follow(CLAIMS, ({ type, object }) => {
      if (type !== "DELETED") queue.add(namespacedKeyOf(object.metadata));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/**
 * True when the pod keeps the claim. A pod without a node does not, because it cannot start any more with a claim that
 * is being deleted.
 */
function usesClaim(object: KubeObject, claim: PersistentVolumeClaim): boolean {
  const pod = typed("Pod", object);
  if ((pod.spec?.nodeName ?? "") === "") return false;
  return podClaimsOf(pod).some(({ claim: name, isEphemeral }) => {
    if (name !== claim.metadata?.name) return false;
    return !isEphemeral || (!isShutDown(object) && whyForeign(pod, claim) === undefined);
  });
}

/** True for a pod that the node has ended, or whose deletion was forced: only finalizers keep it. */
function isShutDown({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.deletionGracePeriodSeconds === 0;
}

/** Keeps a deleted volume until no claim is bound to it (`pkg/controller/volume/pvprotection`). */
export function createVolumeProtection(deps: ControllerDeps): Controller {
  const isUsed = (volume: KubeObject) => typed("PersistentVolume", volume).status?.phase === "Bound";
  const queue = createWorkQueue(deps, {
    name: "pvprotection",
    async reconcile(key) {
      const volume = deps.reader.get({ resource: VOLUMES, ...splitNamespacedKey(key) });
      if (volume !== undefined) await protect(deps, volume, { resource: VOLUMES, finalizer: VOLUME_FINALIZER, isUsed });
      return undefined;
    },
  });
  const follow = () => [
    deps.feed.follow(VOLUMES, ({ type, object }) => {
      if (type !== "DELETED") queue.add(namespacedKeyOf(object.metadata));
    }),
  ];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

interface Protection {
  readonly resource: string;
  readonly finalizer: string;
  isUsed(object: KubeObject): boolean;
}

/**
 * Adds the finalizer to objects that live, also to those from before this protection existed, and removes it from
 * deleted objects that are unused.
 */
async function protect(
  { writer, log }: ControllerDeps,
  object: KubeObject,
  { resource, finalizer, isUsed }: Protection,
): Promise<void> {
  const { finalizers = [], deletionTimestamp } = object.metadata;
  const isProtected = finalizers.includes(finalizer);
  const isGoing = deletionTimestamp !== undefined;
  if (isGoing !== isProtected || (isGoing && isUsed(object))) return;
  const next = isGoing ? finalizers.filter((name) => name !== finalizer) : [...finalizers, finalizer];
  log.debug("the protection of storage in use changes", {
    resource,
    object: namespacedKeyOf(object.metadata),
    isGoing,
  });
  await unlessOvertaken(writer.update(resource, { ...object, metadata: { ...object.metadata, finalizers: next } }));
}
