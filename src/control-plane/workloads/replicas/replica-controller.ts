import { isDeepStrictEqual } from "node:util";
import type { ApiError } from "../../../api/api-error.ts";
import type { ReplicaSetStatus } from "../../../api/gen/types.ts";
import { type KubeObject, type ObjectOf, typed } from "../../../api/object.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../../control-loop/controller.ts";
import { namespacedKeyOf, splitNamespacedKey } from "../../control-loop/namespaced-key.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { soonest } from "../../control-loop/soonest.ts";
import { createWorkQueue, type WorkQueue } from "../../control-loop/work-queue.ts";
import { claimDependents } from "../pod-control/claim-dependents.ts";
import { controllerRefOf, isControlledBy } from "../pod-control/controller-ref.ts";
import { followDependents } from "../pod-control/follow-dependents.ts";
import { createPodControl, type PodControl } from "../pod-control/pod-control.ts";
import { podFromTemplate } from "../pod-control/pod-from-template.ts";
import { computeNextAvailableMs, isPodActive, isPodTerminating } from "../pod-control/pod-standing.ts";
import { rankForDeletion } from "../pod-control/rank-for-deletion.ts";
import { remainingRefusalMs } from "../pod-control/refusal-back-off.ts";
import { callTogether, runSlowStart } from "../pod-control/slow-start.ts";
import { REPLICA_SETS, REPLICATION_CONTROLLERS, type ReplicaKind, type ReplicaOwner } from "./replica-owner.ts";
import { computeReplicaStatus } from "./replica-status.ts";

/** The most pods that are made or deleted before the others of the cluster have their turn. */
const MAX_CHANGES = 500;

/** Keeps the pods of replica sets (`pkg/controller/replicaset`). */
export function createReplicaSets(deps: ControllerDeps): Controller {
  return createReplicaController(deps, REPLICA_SETS);
}

/** Keeps the pods of replication controllers (`pkg/controller/replication`), which differ in their selectors only. */
export function createReplicationControllers(deps: ControllerDeps): Controller {
  return createReplicaController(deps, REPLICATION_CONTROLLERS);
}

interface Replicator extends ControllerDeps {
  kind: ReplicaKind;
  control: PodControl;
}

type StoredPod = ObjectOf<"Pod">;

function createReplicaController(deps: ControllerDeps, kind: ReplicaKind): Controller {
  const { resource } = kind;
  const events = createEventRecorder(deps, kind.component);
  const replicator: Replicator = { ...deps, kind, control: createPodControl(deps, events) };
  const queue: WorkQueue = createWorkQueue(deps, {
    name: kind.queue,
    reconcile: (key) => reconcile(replicator, key),
  });
  const selects = (owner: KubeObject, object: KubeObject) => kind.read(owner).selects(object);
  const dependents = { resource: "pods", ownerKind: kind.kind, ownerResource: resource, selects };
  const follow = () => [
    deps.feed.follow(resource, ({ object }) => queue.add(namespacedKeyOf(object.metadata))),
    followDependents(deps, dependents, queue.add),
  ];
  return { run: (signal) => runFollowingWithEvents(queue, follow, events, signal) };
}

async function reconcile(replicator: Replicator, key: string): Promise<number | undefined> {
  const { reader, kind, clock } = replicator;
  const object = reader.get({ resource: kind.resource, ...splitNamespacedKey(key) });
  if (object === undefined) return undefined;
  const owner = kind.read(object);
  const claimed = await claimPods(replicator, owner);
  const isGoing = object.metadata.deletionTimestamp !== undefined;
  const lacksPods = claimed.length < owner.replicas;
  const pauseMs = lacksPods ? remainingRefusalMs(readOwnPods(replicator, owner), owner.replicas, clock.now()) : 0;
  const error = isGoing ? undefined : await changePods(replicator, owner, { active: claimed, pauseMs });
  const now = clock.now();
  const own = readOwnPods(replicator, owner);
  const active = own.filter(isPodActive);
  const failure = error && {
    reason: lacksPods ? ("FailedCreate" as const) : ("FailedDelete" as const),
    message: error.message,
  };
  const terminating = kind.countsTerminating ? own.filter(isPodTerminating).length : undefined;
  await writeStatus(replicator, owner, computeReplicaStatus(owner, { active, terminating, failure, now }));
  if (error !== undefined) throw error;
  return soonest([pauseMs > 0 ? pauseMs : undefined, computeNextAvailableMs(active, owner.minReadySeconds, now)]);
}

/** The active pods of the owner, after it has adopted and released what it has to. */
async function claimPods(replicator: Replicator, owner: ReplicaOwner): Promise<readonly StoredPod[]> {
  const { kind } = replicator;
  const claimed = await claimDependents(replicator, {
    owner: owner.object,
    ownerResource: kind.resource,
    resource: "pods",
    candidates: readPods(replicator, owner.object).filter(isPodActive),
    selects: owner.selects,
  });
  return claimed.map((pod) => typed("Pod", pod));
}

/** The pods that an owner has, and how long it waits before it makes others. */
interface Standing {
  readonly active: readonly StoredPod[];
  readonly pauseMs: number;
}

/** Makes or deletes as many pods as are missing or too many. Returns the error at which it ended. */
async function changePods(
  replicator: Replicator,
  owner: ReplicaOwner,
  { active, pauseMs }: Standing,
): Promise<ApiError | undefined> {
  const { control, clock } = replicator;
  const missing = owner.replicas - active.length;
  if (missing > 0) {
    if (pauseMs > 0) return undefined;
    const create = () => control.create(owner.object, podFromTemplate(owner.template, owner.object));
    return (await runSlowStart(Math.min(missing, MAX_CHANGES), create)).error;
  }
  const surplus = Math.min(-missing, MAX_CHANGES);
  const ranked =
    surplus < active.length
      ? rankForDeletion(active, { now: clock.now(), related: readRelatedPods(replicator, owner) })
      : active;
  const removals = ranked.slice(0, surplus).map((pod) => () => control.remove(owner.object, pod));
  return (await callTogether(removals))[0];
}

function readPods({ reader }: Replicator, { metadata }: KubeObject): StoredPod[] {
  return reader.list("pods", metadata.namespace ?? "").map((pod) => typed("Pod", pod));
}

/** The pods that the owner controls and selects at this moment, those included that it has just made. */
function readOwnPods(replicator: Replicator, owner: ReplicaOwner): StoredPod[] {
  const { object, selects } = owner;
  return readPods(replicator, object).filter((pod) => isControlledBy(pod, object) && selects(pod));
}

/** The pods of all replica sets of the same deployment, which share the nodes with the owner's. */
function readRelatedPods(replicator: Replicator, { object }: ReplicaOwner): StoredPod[] {
  const { reader, kind } = replicator;
  const controller = controllerRefOf(object);
  if (controller === undefined) return [];
  const kin = reader
    .list(kind.resource, object.metadata.namespace ?? "")
    .filter((other) => controllerRefOf(other)?.uid === controller.uid)
    .map(kind.read);
  return readPods(replicator, object).filter((pod) => kin.some(({ selects }) => selects(pod)));
}

/** Writes the status into the newest version of the owner, if it is still the same object. */
async function writeStatus(
  { reader, writer, kind }: Replicator,
  { object }: ReplicaOwner,
  status: ReplicaSetStatus,
): Promise<void> {
  const { namespace = "", name = "", uid } = object.metadata;
  const newest = reader.get({ resource: kind.resource, namespace, name });
  if (newest === undefined || newest.metadata.uid !== uid) return;
  if (isDeepStrictEqual(newest["status"], status)) return;
  await unlessOvertaken(writer.update(kind.resource, { ...newest, status }, "status"));
}
