import type { Node, Pod } from "../../api/gen/types.ts";
import { NODE_TAINTS } from "../../api/node-names.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import { formatTime, parseTime, SECOND } from "../../base/clock.ts";
import { type Controller, type ControllerDeps, runFollowing, unlessOvertaken } from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { ofGeneration, withPodCondition } from "../control-loop/pod-condition.ts";
import { createPodsByNode, podNameOf } from "../control-loop/pods-by-node.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { readinessOf } from "./node-conditions.ts";

/** The pods of a missing node are left alone for this long, because the node may be about to register. */
const QUARANTINE_MS = 40 * SECOND;
/** The number of ended pods that are kept, as `--terminated-pod-gc-threshold`. */
const MAX_TERMINATED = 12_500;

export interface PodGarbageCollectorOptions {
  /** How many pods that have ended are kept. Default 12,500. */
  maxTerminated?: number;
}

/** A pod that has ended, as far as the order of deletion depends on it. */
interface Terminated {
  readonly isEvicted: boolean;
  readonly createdAt: number;
}

/** Keys of the queue: a pod, the pods of a node, or all that have ended. */
const TERMINATED_KEY = "terminated";
const NODE_PREFIX = "node:";

/**
 * Deletes pods that no node agent deletes (`pkg/controller/podgc`): pods of nodes that do not exist any more or are out
 * of service, terminating pods without a node, and the oldest ended pods above a number.
 */
export function createPodGarbageCollector(deps: ControllerDeps, options: PodGarbageCollectorOptions = {}): Controller {
  const { reader, feed, clock } = deps;
  const { maxTerminated = MAX_TERMINATED } = options;
  const pods = createPodsByNode();
  const nodes = new Set<string>();
  const missingSince = new Map<string, number>();
  const terminated = new Map<string, Terminated>();

  const queue: WorkQueue = createWorkQueue(deps, {
    name: "pod-garbage-collector",
    async reconcile(key) {
      if (key === TERMINATED_KEY) await collectTerminated(deps, terminated, maxTerminated);
      else if (key.startsWith(NODE_PREFIX)) return await collectOrphans(key.slice(NODE_PREFIX.length));
      else await collectStuck(deps, key);
      return undefined;
    },
  });
  const collectOrphans = async (name: string): Promise<number | undefined> => {
    const since = missingSince.get(name);
    if (since === undefined || reader.get({ resource: "nodes", namespace: "", name }) !== undefined) return undefined;
    const remainingMs = since + QUARANTINE_MS - clock.monotonic();
    if (remainingMs > 0) return remainingMs;
    missingSince.delete(name);
    try {
      for (const key of pods.keysOf(name))
        await deleteAtOnce(deps, key, { ...ORPHANED, why: `its node ${name} does not exist any more` });
    } catch (error) {
      missingSince.set(name, since);
      throw error;
    }
    return undefined;
  };
  const quarantine = (name: string) => {
    if (nodes.has(name) || missingSince.has(name)) return;
    missingSince.set(name, clock.monotonic());
    queue.add(`${NODE_PREFIX}${name}`);
  };
  const followNode = ({ type, object }: ResourceEvent) => {
    const { name = "" } = object.metadata;
    if (type === "DELETED") {
      nodes.delete(name);
      if (pods.keysOf(name).length > 0) quarantine(name);
      return;
    }
    nodes.add(name);
    missingSince.delete(name);
    if (isOutOfService(typed("Node", object))) for (const key of pods.keysOf(name)) queue.add(key);
  };
  const followPod = (event: ResourceEvent) => {
    pods.apply(event);
    const key = namespacedKeyOf(event.object.metadata);
    const pod = typed("Pod", event.object);
    const { nodeName = "" } = pod.spec ?? {};
    if (event.type === "DELETED" || !isTerminalPhase(pod.status?.phase)) terminated.delete(key);
    else terminated.set(key, terminatedOf(pod));
    if (terminated.size > maxTerminated) queue.add(TERMINATED_KEY);
    if (event.type === "DELETED") return;
    if (nodeName !== "") quarantine(nodeName);
    if (pod.metadata?.deletionTimestamp !== undefined) queue.add(key);
  };
  const follow = () => [feed.follow("nodes", followNode), feed.follow("pods", followPod)];
  return { run: (signal) => runFollowing(queue, follow, signal) };
}

/** Deletes a terminating pod that has no node. */
async function collectStuck(deps: ControllerDeps, key: string): Promise<void> {
  const object = deps.reader.get(podNameOf(key));
  if (object?.metadata.deletionTimestamp === undefined) return;
  const { nodeName = "" } = typed("Pod", object).spec ?? {};
  const node = nodeName === "" ? undefined : deps.reader.get({ resource: "nodes", namespace: "", name: nodeName });
  const isStuck = nodeName === "" || (node !== undefined && isOutOfService(typed("Node", node)));
  const why = nodeName === "" ? "it has no node that could end it" : `its node ${nodeName} is out of service`;
  if (isStuck) await deleteAtOnce(deps, key, { why });
}

/** Who operates the node says that it is switched off, and the node does not say otherwise. */
function isOutOfService(node: Node): boolean {
  return readinessOf(node) !== "True" && (node.spec?.taints ?? []).some(({ key }) => key === NODE_TAINTS.outOfService);
}

/** Deletes evicted pods first, because their controllers have replaced them, and then the oldest. */
async function collectTerminated(
  deps: ControllerDeps,
  terminated: ReadonlyMap<string, Terminated>,
  max: number,
): Promise<void> {
  const excess = terminated.size - max;
  if (excess <= 0) return;
  const ordered = [...terminated].sort(([a, left], [b, right]) => {
    if (left.isEvicted !== right.isEvicted) return left.isEvicted ? -1 : 1;
    return left.createdAt - right.createdAt || (a < b ? -1 : 1);
  });
  const why = `more than ${max} pods have ended`;
  for (const [key] of ordered.slice(0, excess)) await deleteAtOnce(deps, key, { why });
}

function terminatedOf({ metadata, status }: Pod): Terminated {
  const isEvicted = status?.phase === "Failed" && status.reason === "Evicted";
  return { isEvicted, createdAt: parseTime(metadata?.creationTimestamp) ?? 0 };
}

const ORPHANED = {
  condition: {
    type: "DisruptionTarget",
    status: "True",
    reason: "DeletionByPodGC",
    message: "PodGC: node no longer exists",
  },
};

/**
 * Sets the pod's phase to Failed first, so that controllers that count ended pods do not wait for it, and then deletes
 * it.
 */
async function deleteAtOnce(
  { reader, writer, clock, log }: ControllerDeps,
  key: string,
  { why, condition }: { readonly why: string } & Partial<typeof ORPHANED>,
): Promise<void> {
  const target = podNameOf(key);
  const object = reader.get(target);
  if (object === undefined) return;
  const pod = typed("Pod", object);
  if (!isTerminalPhase(pod.status?.phase)) {
    const told = (condition && withPodCondition(pod, ofGeneration(condition, pod), formatTime(clock.now()))) ?? pod;
    const failed = untyped({ ...told, status: ofGeneration({ ...told.status, phase: "Failed" }, pod) });
    if (!(await unlessOvertaken(writer.update("pods", failed, "status")))) return;
  }
  if (isOnItsWay(object)) return;
  log.info("a pod is deleted that nobody else is there to delete", { pod: key, uid: object.metadata.uid });
  const { uid } = object.metadata;
  const cause = `the pod garbage collector, because ${why}`;
  const preconditions = { ...(uid !== undefined && { uid }) };
  await unlessOvertaken(writer.remove(target, { gracePeriodSeconds: 0, preconditions, cause }));
}

/**
 * True for a pod that is deleted without a grace period already. Only a finalizer keeps it, which is the business of
 * the finalizer's owner.
 */
function isOnItsWay({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.deletionGracePeriodSeconds ?? 0) === 0;
}
