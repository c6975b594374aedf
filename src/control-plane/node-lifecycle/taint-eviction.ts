import type { Pod, Taint, Toleration } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { tolerates } from "../../api/tolerations.ts";
import { formatTime, SECOND } from "../../base/clock.ts";
import {
  type Controller,
  type ControllerDeps,
  runFollowingWithEvents,
  unlessOvertaken,
} from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { ofGeneration, withPodCondition } from "../control-loop/pod-condition.ts";
import { createPodsByNode, podNameOf } from "../control-loop/pods-by-node.ts";
import { createEventRecorder, type EventRecorder } from "../control-loop/record-events.ts";
import { createWorkQueue, type WorkQueue } from "../control-loop/work-queue.ts";

const COMPONENT = "taint-eviction-controller";
const REASON = "TaintManagerEviction";

interface Evictor extends ControllerDeps {
  events: EventRecorder;
  /**
   * The time, by our own clock, since when the pod is on a node that it does not tolerate forever; by key of the pod.
   */
  since: Map<string, number>;
}

/**
 * Evicts pods from nodes with taints of the effect NoExecute that they do not tolerate, or no longer tolerate
 * (`pkg/controller/tainteviction`). The toleration's time counts from the moment at which this controller saw the
 * taint, because a time in which no controller ran is no reason for an eviction.
 */
export function createTaintEviction(deps: ControllerDeps): Controller {
  const events = createEventRecorder(deps, COMPONENT);
  const evictor: Evictor = { ...deps, events, since: new Map() };
  const pods = createPodsByNode();
  /** The evicting taints of nodes that have any, as text. */
  const taintsOf = new Map<string, string>();
  const queue: WorkQueue = createWorkQueue(deps, {
    name: "taint-eviction",
    reconcile: (key) => reconcile(evictor, key),
  });
  const follow = () => [
    deps.feed.follow("nodes", ({ type, object }) => {
      const { name = "" } = object.metadata;
      const taints = type === "DELETED" ? [] : evictingTaints(object);
      const digest = taints.length === 0 ? undefined : JSON.stringify(taints);
      if (taintsOf.get(name) === digest) return;
      if (digest === undefined) taintsOf.delete(name);
      else taintsOf.set(name, digest);
      for (const key of pods.keysOf(name)) queue.add(key);
    }),
    deps.feed.follow("pods", (event) => {
      pods.apply(event);
      const key = namespacedKeyOf(event.object.metadata);
      if (event.type === "DELETED") evictor.since.delete(key);
      const { nodeName = "" } = typed("Pod", event.object).spec ?? {};
      if (event.type !== "DELETED" && taintsOf.has(nodeName)) queue.add(key);
    }),
  ];
  return {
    run: (signal) => runFollowingWithEvents(queue, follow, events, signal),
  };
}

async function reconcile(evictor: Evictor, key: string): Promise<number | undefined> {
  const { reader, clock, since } = evictor;
  const object = reader.get(podNameOf(key));
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
    since.delete(key);
    return undefined;
  }
  const { spec } = typed("Pod", object);
  const node = reader.get({ resource: "nodes", namespace: "", name: spec?.nodeName ?? "" });
  const staysMs = computeStayMs(node === undefined ? [] : evictingTaints(node), spec?.tolerations ?? []);
  if (staysMs === Number.POSITIVE_INFINITY) {
    cancel(evictor, key, object);
    return undefined;
  }
  const from = since.get(key) ?? clock.monotonic();
  since.set(key, from);
  const remainingMs = from + staysMs - clock.monotonic();
  if (remainingMs > 0) return remainingMs;
  await evict(evictor, key, { object, taints: node === undefined ? [] : evictingTaints(node) });
  return undefined;
}

function evictingTaints(node: KubeObject): Taint[] {
  return (typed("Node", node).spec?.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/**
 * How long a pod with these tolerations may stay on a node with these taints, in milliseconds; infinity when it may
 * stay forever.
 */
export function computeStayMs(taints: readonly Taint[], tolerations: readonly Toleration[]): number {
  const stays = taints.map((taint) => {
    const used = tolerations.find((toleration) => tolerates(toleration, taint));
    if (used === undefined) return 0;
    return used.tolerationSeconds === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, used.tolerationSeconds) * SECOND;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...stays);
}

function cancel({ since, events }: Evictor, key: string, about: KubeObject): void {
  if (!since.delete(key)) return;
  events.record({ about, type: "Normal", reason: REASON, message: `Cancelling deletion of Pod ${key}` });
}

async function evict(
  { writer, clock, events, log }: Evictor,
  key: string,
  { object, taints }: { readonly object: KubeObject; readonly taints: readonly Taint[] },
): Promise<void> {
  log.info("a pod does not tolerate its node any longer", { pod: key, uid: object.metadata.uid });
  events.record({ about: object, type: "Normal", reason: REASON, message: `Marking for deletion Pod ${key}` });
  const pod: Pod = typed("Pod", object);
  const marked = withPodCondition(pod, ofGeneration(CONDITION, pod), formatTime(clock.now()));
  if (marked !== undefined && !(await unlessOvertaken(writer.update("pods", untyped(marked), "status")))) return;
  const { uid } = object.metadata;
  const preconditions = { ...(uid !== undefined && { uid }) };
  await unlessOvertaken(writer.remove(podNameOf(key), { preconditions, cause: describeEviction(pod, taints) }));
}

function describeEviction({ spec }: Pod, taints: readonly Taint[]): string {
  const hindering = taints.filter((taint) => {
    return computeStayMs([taint], spec?.tolerations ?? []) !== Number.POSITIVE_INFINITY;
  });
  const names = hindering.map((taint) => {
    const seconds = computeStayMs([taint], spec?.tolerations ?? []) / SECOND;
    return `${taint.key}${taint.value ? `=${taint.value}` : ""}:NoExecute${seconds === 0 ? "" : ` for more than ${seconds} s`}`;
  });
  return `the taint manager, because the pod does not tolerate ${names.join(", ")} on its node ${spec?.nodeName ?? ""}`;
}

const CONDITION = {
  type: "DisruptionTarget",
  status: "True",
  reason: "DeletionByTaintManager",
  message: "Taint manager: deleting due to NoExecute taint",
};
