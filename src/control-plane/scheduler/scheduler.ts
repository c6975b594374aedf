import { isApiError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import { aborted } from "../../base/abort.ts";
import { parseTime, type Timer } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { createTasks } from "../../base/tasks.ts";
import type { Controller, ControllerDeps } from "../control-loop/controller.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { pendingPodOf } from "./cluster.ts";
import { createClusterView } from "./cluster-view.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { type Placement, planPlacement } from "./placement.ts";
import { createPreemptor } from "./preempt-pods.ts";
import { prepareVolumes } from "./prepare-volumes.ts";
import { readBudgets } from "./read-budgets.ts";
import { reportUnschedulable } from "./report-unschedulable.ts";
import { createSchedulingQueue } from "./scheduling-queue.ts";

const NAME = "default-scheduler";
/** After so many the rest of the process has a turn. */
const PODS_A_TURN = 32;
/** Bindings and reports under way; above it the next pod waits for one to end. */
const MAX_WRITES = 256;
/** What else may help a pod that waits. */
const FOLLOWED: ReadonlyArray<readonly [string, ClusterChange]> = [
  ["persistentvolumeclaims", "storage"],
  ["persistentvolumes", "storage"],
  ["storageclasses.storage.k8s.io", "storage"],
  ["csidrivers.storage.k8s.io", "storage"],
  ["csinodes.storage.k8s.io", "storage"],
  ["csistoragecapacities.storage.k8s.io", "storage"],
  ["volumeattachments.storage.k8s.io", "storage"],
  ["namespaces", "namespace"],
];

/** What ends the wait for a pod's volumes: they are bound, or the node is no place for it any more. */
const WAITS_FOR_VOLUMES: ReadonlySet<ClusterChange> = new Set(["storage", "node"]);

export interface SchedulerDeps extends ControllerDeps {
  /**
   * Puts the pod on the node, as `pods/binding` does; what is read after the call, before it resolves, is the bound pod.
   * Rejects with an ApiError: Conflict when somebody else was faster, NotFound.
   */
  bind(pod: KubeObject, nodeName: string): Promise<void>;
}

/**
 * Gives pods that ask for the default scheduler a node (`pkg/scheduler`). It decides in the turn after it hears of a
 * pod, on what is written, and does not wait for the disk between one pod and the next.
 */
export function createScheduler(deps: SchedulerDeps): Controller {
  const { reader, feed, clock, log } = deps;
  const view = createClusterView(reader);
  const events = createEventRecorder(deps, NAME);
  const preemptor = createPreemptor({ ...deps, events });
  const stop = new AbortController();
  let crash: { error: unknown } | undefined;
  const tasks = createTasks((_name, error) => {
    crash ??= { error };
    stop.abort();
  });
  let isArmed = false;
  let turn: Timer | undefined;
  const arm = () => {
    if (isArmed || stop.signal.aborted) return;
    isArmed = true;
    tasks.spawn("scheduling", async () => {
      // Whoever tells of a change may be in the middle of telling others: they hear first.
      await Promise.resolve();
      isArmed = false;
      scheduleSome();
    });
  };
  const queue = createSchedulingQueue(clock, arm);

  const scheduleSome = () => {
    for (let count = 0; !stop.signal.aborted && tasks.running <= MAX_WRITES; count++) {
      if (count === PODS_A_TURN) {
        turn = clock.setTimer(0, arm);
        return;
      }
      const key = queue.next();
      if (key === undefined) return;
      const object = readPod(reader, key);
      if (object === undefined || !isPending(typed("Pod", object))) queue.remove(key);
      else schedule(key, object);
    }
  };
  const schedule = (key: string, object: KubeObject) => {
    const pod = pendingPodOf(typed("Pod", object));
    const cluster = view.current();
    const placement = planPlacement({
      pod,
      cluster,
      nominated: view.nominated(),
      readBudgets: () => readBudgets(reader),
    });
    if (placement.kind === "bind") {
      view.assume(pod.info, placement.nodeName);
      write(key, () => bind(key, object, placement.nodeName));
      return;
    }
    if (placement.kind === "prepare") {
      view.nominate(pod.info, placement.nodeName);
      queue.park(key, WAITS_FOR_VOLUMES);
      write(key, () => prepare(key, object, placement));
      return;
    }
    view.nominate(pod.info, placement.nominatedNode);
    queue.park(key, placement.helpedBy);
    write(key, () => wait(key, object, placement));
  };
  const write = (key: string, task: () => Promise<void>) => {
    tasks.spawn(key, async () => {
      try {
        await task();
      } finally {
        arm();
      }
    });
  };

  const bind = async (key: string, object: KubeObject, nodeName: string) => {
    try {
      await deps.bind(object, nodeName);
    } catch (error) {
      if (!isApiError(error)) throw error;
      view.forget(key);
      // Somebody else has bound it, or it is gone: the feed says what became of it.
      if (error.reason === "Conflict" || error.reason === "NotFound") queue.finish(key);
      else {
        log.warn("a pod could not be bound", { pod: key, node: nodeName, error: messageOf(error) });
        queue.delay(key);
        events.record({ about: object, type: "Warning", reason: "FailedScheduling", message: messageOf(error) });
      }
      return;
    }
    queue.finish(key);
    const message = `Successfully assigned ${key} to ${nodeName}`;
    events.record({ about: object, type: "Normal", reason: "Scheduled", message });
  };
  const prepare = async (key: string, object: KubeObject, placement: Placement & { kind: "prepare" }) => {
    try {
      await prepareVolumes(deps, object, placement);
    } catch (error) {
      if (!isApiError(error)) throw error;
      log.debug("a pod's volumes could not be prepared", { pod: key, error: messageOf(error) });
      queue.delay(key);
    }
  };
  const wait = async (key: string, object: KubeObject, placement: Placement & { kind: "wait" }) => {
    const { message, nominatedNode, preemption } = placement;
    events.record({ about: object, type: "Warning", reason: "FailedScheduling", message });
    await reportUnschedulable(deps, object, { message, nominatedNode });
    if (preemption === undefined) return;
    log.info("pods make room for a more important one", {
      pod: key,
      node: preemption.nodeName,
      victims: preemption.victims.map((victim) => victim.key),
    });
    if (!(await preemptor.preempt(object, preemption))) queue.delay(key);
  };

  const followPod = (event: ResourceEvent) => {
    const changes = view.applyPod(event);
    const pod = typed("Pod", event.object);
    const { namespace = "", name = "" } = event.object.metadata;
    const key = `${namespace}/${name}`;
    if (event.type === "DELETED" || !isPending(pod)) queue.remove(key);
    else if (!view.isAssumed(key)) queue.put(queuedPodOf(key, pod));
    if (changes.length > 0) queue.wake(changes);
  };
  const follow = () => [
    feed.follow("nodes", (event) => queue.wake(view.applyNode(event))),
    ...FOLLOWED.map(([resource, change]) => feed.follow(resource, () => queue.wake([change]))),
    feed.follow("pods", followPod),
  ];

  return {
    async run(signal) {
      const abort = () => stop.abort();
      signal.addEventListener("abort", abort, { once: true });
      if (signal.aborted) stop.abort();
      const stops = follow();
      await aborted(stop.signal);
      signal.removeEventListener("abort", abort);
      for (const stopFollowing of stops) stopFollowing();
      queue.stop();
      turn?.cancel();
      await tasks.settled();
      await events.settled();
      if (crash !== undefined) throw crash.error;
    },
  };
}

function readPod(reader: ControllerDeps["reader"], key: string): KubeObject | undefined {
  const [namespace = "", name = ""] = key.split("/");
  return reader.get({ resource: "pods", namespace, name });
}

/** It has no node, wants one from us, and may have one. */
function isPending({ metadata, spec, status }: Pod): boolean {
  const { nodeName = "", schedulerName = NAME, schedulingGates = [] } = spec ?? {};
  return (
    nodeName === "" &&
    schedulerName === NAME &&
    schedulingGates.length === 0 &&
    metadata?.deletionTimestamp === undefined &&
    !isTerminalPhase(status?.phase)
  );
}

/** Of what others write about the pod nothing makes it fit, but for what it asks for and how it is labelled. */
function queuedPodOf(key: string, { metadata, spec }: Pod) {
  const { uid = "", generation = 0, labels = {}, creationTimestamp } = metadata ?? {};
  return {
    key,
    priority: spec?.priority ?? 0,
    createdAt: parseTime(creationTimestamp) ?? 0,
    version: `${uid}/${generation}/${JSON.stringify(labels)}`,
  };
}
