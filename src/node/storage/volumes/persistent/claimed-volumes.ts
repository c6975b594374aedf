import { LRUCache } from "lru-cache";
import { translateCloudVolume } from "../../../../api/cloud-volumes.ts";
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from "../../../../api/gen/types.ts";
import { podReference } from "../../../../api/pods.ts";
import type { SelectableNode } from "../../../../api/selectors/node-selector.ts";
import { isAbort } from "../../../../base/abort.ts";
import { assert } from "../../../../base/assert.ts";
import { createBackOff } from "../../../../base/back-off.ts";
import { type Clock, SECOND } from "../../../../base/clock.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeOperationError, VolumeSetUpError } from "../volume-error.ts";
import type { ClaimedVolumes, VolumeSource } from "../volume-plugin.ts";
import {
  type ClaimName,
  checkBinding,
  checkClaim,
  checkEphemeralClaim,
  checkVolumeMode,
  claimNameOf,
  isBeingBound,
  type Refusal,
} from "./claim-checks.ts";
import { isOnNode } from "./node-affinity.ts";

/** Reads claims and volumes from the API, each time anew. A node may get those of its pods, and not list any. */
export interface ClaimReader {
  claim(namespace: string, name: string, signal: AbortSignal): Promise<PersistentVolumeClaim>;
  volume(name: string, signal: AbortSignal): Promise<PersistentVolume>;
}

interface ClaimedVolumesDeps {
  readonly claims: ClaimReader;
  readonly clock: Pick<Clock, "monotonic">;
  /** The node as the API has it. It is read only for volumes with a node affinity, once for each pod that uses one. */
  node(signal: AbortSignal): Promise<SelectableNode>;
}

/** Claimed volumes that are remembered for each pod. */
export interface RememberedClaims extends ClaimedVolumes {
  /** The pod is gone. */
  forget(podUid: string): void;
}

type Claimed = Extract<VolumeSource, { kind: "persistent" }>;

interface Found {
  readonly source: Claimed;
  readonly readAt: number;
}

/**
 * A claim and its volume are read again after this time, so that a change of the size is seen. In between, each sync of
 * a running pod is spared two calls.
 */
const MAX_AGE_MS = 10 * SECOND;
/** A controller binds a claim, mostly within a second, and a node may not watch claims. */
const RETRY = { initialMs: SECOND / 2, maxMs: 10 * SECOND };
/** At this limit the pod whose entry is oldest is forgotten; its next sync reads its claims anew. */
const MAX_PODS = 2_048;

/**
 * Finds the volumes of claims, as upstream's populator does (pkg/kubelet/volumemanager/populator). A pod that has its
 * volume keeps it even while the claim is being deleted or the API server is away.
 */
export function createClaimedVolumes(deps: ClaimedVolumesDeps): RememberedClaims {
  const { clock } = deps;
  const backOff = createBackOff(RETRY);
  const pods = new LRUCache<string, Map<string, Found>>({
    max: MAX_PODS,
    noDisposeOnSet: true,
    dispose: (_found, podUid) => backOff.resetAll(`${podUid}/`),
  });

  const remember = (podUid: string, volumeName: string, source: Claimed) => {
    const found = pods.get(podUid) ?? new Map<string, Found>();
    pods.set(podUid, found.set(volumeName, { source, readAt: clock.monotonic() }));
  };

  const forget = (podUid: string) => {
    pods.delete(podUid);
    backOff.resetAll(`${podUid}/`);
  };

  return {
    async resolve(pod, volume, signal) {
      const { uid } = podReference(pod);
      const key = `${uid}/${volume.name}`;
      const last = pods.peek(uid)?.get(volume.name);
      if (last !== undefined && clock.monotonic() - last.readAt < MAX_AGE_MS) return last.source;
      try {
        const read = await readClaimed(deps, { pod, volume, isKnown: last !== undefined }, signal);
        // A new claim of the same name, or a new volume, is another one; this pod keeps what it has.
        const source = last === undefined || isSameVolume(last.source, read) ? read : last.source;
        backOff.reset(key);
        remember(uid, volume.name, source);
        return source;
      } catch (error) {
        if (isAbort(error)) throw error;
        if (last !== undefined) {
          remember(uid, volume.name, last.source);
          return last.source;
        }
        const now = clock.monotonic();
        throw claimError(volume.name, error, backOff.next(key, now, now));
      }
    },
    forget,
  };
}

function isSameVolume(a: Claimed, b: Claimed): boolean {
  return (
    a.claim.metadata?.uid === b.claim.metadata?.uid &&
    a.persistentVolume.metadata?.uid === b.persistentVolume.metadata?.uid
  );
}

interface ClaimingVolume {
  readonly pod: Pod;
  readonly volume: Volume;
  /** The pod has had the claim's volume before. */
  readonly isKnown: boolean;
}

async function readClaimed(deps: ClaimedVolumesDeps, claiming: ClaimingVolume, signal: AbortSignal): Promise<Claimed> {
  const { pod, volume } = claiming;
  const claimName = claimNameOf(pod, volume);
  assert(claimName !== undefined, "only volumes that name a claim are looked up");
  const claim = await readClaim(deps, pod, claimName, signal);
  if (claimName.isEphemeral) refuse(checkEphemeralClaim(pod, claim));
  const persistentVolume = await readVolume(deps, claim, signal);
  refuse(checkVolumeMode(pod, volume.name, persistentVolume.spec?.volumeMode));
  // A volume that is mounted already stays when the node's labels change, as upstream, which checks when it mounts.
  if (!claiming.isKnown) await checkNode(deps, persistentVolume, signal);
  return { kind: "persistent", persistentVolume, claim, readOnly: claimName.readOnly };
}

async function readClaim(
  { claims }: ClaimedVolumesDeps,
  pod: Pod,
  { name }: ClaimName,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const { namespace } = podReference(pod);
  return await processing({ namespace, name }, async () => {
    const claim = await claims.claim(namespace, name, signal).catch(because("failed to fetch PVC from API server"));
    if (isBeingBound(claim)) throw new VolumeSetUpError("binding-under-way", "PVC is not bound");
    refuse(checkClaim(claim));
    return claim;
  });
}

async function readVolume(
  { claims }: ClaimedVolumesDeps,
  claim: PersistentVolumeClaim,
  signal: AbortSignal,
): Promise<PersistentVolume> {
  return await processing(claim.metadata ?? {}, async () => {
    const name = claim.spec?.volumeName ?? "";
    const volume = await claims.volume(name, signal).catch(because(`failed to fetch PV ${name} from API server`));
    refuse(checkBinding(volume, claim));
    return translated(volume);
  });
}

/** From here on nobody needs to know that the volume was once one of a kind of its own. */
function translated(volume: PersistentVolume): PersistentVolume {
  try {
    return translateCloudVolume(volume);
  } catch (error) {
    throw new VolumeSetUpError("invalid", `failed to translate in-tree pv to CSI: ${messageOf(error)}`);
  }
}

async function checkNode({ node }: ClaimedVolumesDeps, volume: PersistentVolume, signal: AbortSignal): Promise<void> {
  if (volume.spec?.nodeAffinity?.required === undefined || isOnNode(volume, await node(signal))) return;
  const operation = volume.spec.volumeMode === "Block" ? "MapVolume" : "MountVolume";
  const name = volume.metadata?.name;
  const message = `${operation}.NodeAffinity check failed for volume "${name}" : no matching NodeSelectorTerms`;
  throw new VolumeOperationError(message);
}

function refuse(refusal: Refusal): void {
  if (refusal !== undefined) throw new VolumeSetUpError("claim-refused", refusal);
}

async function processing<T>(claim: { namespace?: string; name?: string }, step: () => Promise<T>): Promise<T> {
  return await step().catch(because(`error processing PVC ${claim.namespace}/${claim.name}`));
}

/** Puts words before those of an error, whose code stays; an abort stays what it is. */
function because(words: string): (error: unknown) => never {
  return (error) => {
    if (isAbort(error)) throw error;
    const code = error instanceof VolumeSetUpError ? error.code : "failed";
    throw new VolumeSetUpError(code, `${words}: ${messageOf(error)}`, { cause: error });
  };
}

/** The message is that of pkg/kubelet/volumemanager (`WaitForAttachAndMount`), which becomes the pod's event. */
function claimError(volumeName: string, error: unknown, retryAfterMs: number): VolumeOperationError {
  if (error instanceof VolumeOperationError) {
    return new VolumeOperationError(error.message, { reason: error.reason, retryAfterMs, cause: error.cause });
  }
  const isBindingUnderWay = error instanceof VolumeSetUpError && error.code === "binding-under-way";
  // A binding is worth an event only if it takes long.
  const isQuiet = retryAfterMs < RETRY.maxMs && isBindingUnderWay;
  const message =
    `Unable to attach or mount volumes: unmounted volumes=[${volumeName}], unattached volumes=[], ` +
    `failed to process volumes=[${volumeName}]: ${messageOf(error)}`;
  return new VolumeOperationError(message, { retryAfterMs, isQuiet, cause: error });
}
