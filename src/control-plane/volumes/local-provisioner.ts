import { isApiError } from "../../api/api-error.ts";
import { typed, untyped } from "../../api/object.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { SECOND } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { SELECTED_NODE } from "../claims/volume-claim-ref.ts";
import { storageClassOf } from "../claims/volume-match.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { createObjectIndex } from "../control-loop/object-index.ts";
import { createEventRecorder, type EventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue } from "../control-loop/work-queue.ts";
import type { LocalDirectories } from "../ports/local-directories.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import {
  CLAIMS,
  readClaim,
  readVolume,
  STORAGE_CLASSES,
  type StoredClaim,
  type StoredVolume,
  VOLUMES,
} from "./binder-deps.ts";
import { LOCAL_PROVISIONER } from "./local-class.ts";
import { LOCAL_FINALIZER, localVolumeName, planLocalReclaim, planLocalVolume } from "./plan-local-volume.ts";
import { PROVISIONED_BY } from "./reclaim-volume.ts";
import { isAskedOf } from "./request-provisioning.ts";

interface ProvisionerDeps extends ControllerDeps {
  directories: LocalDirectories;
  events: EventRecorder;
  /** When the scheduler was last asked for another node, by our own clock; by the names of volumes. */
  rescheduledAt: Map<string, number>;
}

/** After a failure or a refusal, whose reason may be mended outside of the cluster. */
const RETRY_MS = 15 * SECOND;

/**
 * Makes volumes of directories on the node's own disk for claims that ask for one, and removes them when their claims
 * are gone, as an external provisioner does beside upstream's binder. Volume, directory and queue know a claim's volume
 * by one name, so that one thing is done about it at a time:
 *
 *     claim ──▶ directory ──▶ volume ──▶ bound ──▶ released ──▶ directory removed ──▶ volume removed
 *                   │ claim gone
 *                   └──▶ removed while it is empty
 *
 * Each step may be the last one before a kill. The next start takes up what the objects and the directories say. A
 * directory for which there is neither claim nor volume was never mounted if it is empty; one with content belongs to a
 * volume that was retained, and is never touched.
 */
export function createLocalProvisioner(deps: ControllerDeps, directories: LocalDirectories): Controller {
  const events = createEventRecorder(deps, LOCAL_PROVISIONER);
  const provisioner: ProvisionerDeps = { ...deps, directories, events, rescheduledAt: new Map() };
  const claims = createObjectIndex(({ metadata }) => [localVolumeName(metadata.uid ?? "")]);
  const queue = createWorkQueue(deps, {
    name: "local-provisioner",
    async reconcile(name) {
      const claim = claims.keysOf(name).flatMap((key) => readClaim(deps, key) ?? [])[0];
      const volume = readVolume(deps, name);
      if (volume !== undefined) return await reclaim(provisioner, volume, claim);
      if (claim !== undefined) return await provision(provisioner, claim, name);
      provisioner.rescheduledAt.delete(name);
      await directories.removeEmpty(name);
      return undefined;
    },
  });
  const followClaim = (event: ResourceEvent) => {
    const { uid = "" } = event.object.metadata;
    claims.apply(event);
    if (isAskedOf(typed("PersistentVolumeClaim", event.object), LOCAL_PROVISIONER)) queue.add(localVolumeName(uid));
  };
  const followVolume = ({ object: { metadata } }: ResourceEvent) => {
    if (metadata.annotations?.[PROVISIONED_BY] === LOCAL_PROVISIONER) queue.add(metadata.name ?? "");
  };
  const follow = () => [deps.feed.follow(CLAIMS, followClaim), deps.feed.follow(VOLUMES, followVolume)];
  return {
    async run(signal) {
      const left = await directories.list();
      for (const name of left) queue.add(name);
      await runFollowingWithEvents(queue, follow, events, signal);
    },
  };
}

/** Makes the directory and then the volume, or records why there is none. */
async function provision(deps: ProvisionerDeps, claim: StoredClaim, name: string): Promise<number | undefined> {
  const { reader, writer, directories, events } = deps;
  const className = storageClassOf(claim);
  const fail = (problem: string) => {
    const message = `failed to provision volume with StorageClass "${className}": ${problem}`;
    events.record({ about: untyped(claim), type: "Warning", reason: "ProvisioningFailed", message });
  };
  const storageClass = reader.get({ resource: STORAGE_CLASSES, namespace: "", name: className });
  const node = reader.get({ resource: "nodes", namespace: "", name: directories.nodeName });
  const plan = planLocalVolume(claim, {
    storageClass: storageClass && typed("StorageClass", storageClass),
    node: node && typed("Node", node),
    nodeName: directories.nodeName,
    path: directories.pathOf(name),
  });
  if (plan.kind === "nothing") return undefined;
  if (plan.kind === "refused") {
    if (plan.reschedules === true) return await reschedule(deps, claim, { name, tell: () => fail(plan.problem) });
    fail(plan.problem);
    return RETRY_MS;
  }
  const message = `External provisioner is provisioning volume for claim "${namespacedKeyOf(claim.metadata)}"`;
  events.record({ about: untyped(claim), type: "Normal", reason: "Provisioning", message });
  const problem = await directories.ensure(name);
  if (problem !== undefined) {
    fail(problem);
    return RETRY_MS;
  }
  try {
    await writer.create(VOLUMES, plan.volume);
  } catch (error) {
    if (!isApiError(error)) throw error;
    if (error.reason !== "AlreadyExists") fail(messageOf(error));
    throw error;
  }
  const done = `Successfully provisioned volume ${name}`;
  events.record({ about: untyped(claim), type: "Normal", reason: "ProvisioningSucceeded", message: done });
  return undefined;
}

/**
 * Without its node, the pod of the claim is scheduled again (`ProvisioningReschedule` of upstream's library). A scheduler
 * that chooses the same node again is answered after a while, or the two would ask each other without end.
 */
async function reschedule(
  { writer, clock, rescheduledAt }: ProvisionerDeps,
  claim: StoredClaim,
  { name, tell }: { name: string; tell(): void },
): Promise<number> {
  const waitsMs = (rescheduledAt.get(name) ?? Number.NEGATIVE_INFINITY) + RETRY_MS - clock.monotonic();
  if (waitsMs > 0) return waitsMs;
  rescheduledAt.set(name, clock.monotonic());
  tell();
  const { [SELECTED_NODE]: _node, ...annotations } = claim.metadata.annotations ?? {};
  await writer.update(CLAIMS, untyped({ ...claim, metadata: { ...claim.metadata, annotations } }));
  return RETRY_MS;
}

/** Takes the next step of a volume whose claim is gone. */
async function reclaim(
  deps: ProvisionerDeps,
  volume: StoredVolume,
  claim: StoredClaim | undefined,
): Promise<number | undefined> {
  const { name = "", uid, deletionTimestamp } = volume.metadata;
  const { directories, events, writer } = deps;
  if (claim !== undefined) reportGrowth(deps, volume, claim);
  const fail = (message: string) => {
    events.record({ about: untyped(volume), type: "Warning", reason: "VolumeFailedDelete", message });
    return RETRY_MS;
  };
  const isClaimed = claim !== undefined || findClaimOf(deps, volume) !== undefined;
  const step = planLocalReclaim(volume, { path: directories.pathOf(name), isClaimed });
  switch (step.kind) {
    case "keep":
      return undefined;
    case "refused":
      fail(step.problem);
      return undefined;
    case "let-go":
      await letGo(deps, volume);
      return undefined;
    case "delete": {
      const problem = await directories.remove(name);
      if (problem !== undefined) return fail(problem);
      const target = { resource: VOLUMES, namespace: "", name };
      const preconditions = uid === undefined ? {} : { preconditions: { uid } };
      if (deletionTimestamp === undefined) await unlessOvertaken(writer.remove(target, preconditions));
      else await letGo(deps, volume);
      return undefined;
    }
  }
}

/** The claim that the volume refers to. It may have been bound by hand, and need not be the one that it was made for. */
function findClaimOf(deps: ProvisionerDeps, { spec }: StoredVolume): StoredClaim | undefined {
  const { claimRef } = spec ?? {};
  const found = claimRef && readClaim(deps, namespacedKeyOf(claimRef));
  return found?.metadata.uid === claimRef?.uid ? found : undefined;
}

async function letGo({ writer }: ProvisionerDeps, volume: StoredVolume): Promise<void> {
  const finalizers = (volume.metadata.finalizers ?? []).filter((finalizer) => finalizer !== LOCAL_FINALIZER);
  const next = untyped({ ...volume, metadata: { ...volume.metadata, finalizers } });
  await unlessOvertaken(writer.update(VOLUMES, next));
}

/** A class of a user may allow growth, for which there is nothing to do and nobody else. */
function reportGrowth({ events }: ProvisionerDeps, { spec }: StoredVolume, claim: StoredClaim): void {
  const wanted = claim.spec?.resources?.requests?.["storage"] ?? "0";
  if (compareQuantities(wanted, spec?.capacity?.["storage"] ?? "0") <= 0) return;
  const message =
    "a local directory cannot be expanded: it has no size of its own, and may fill the disk that it is on";
  events.record({ about: untyped(claim), type: "Warning", reason: "VolumeResizeFailed", message });
}
