import type { Pod } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { isTerminalPhase } from "../../api/pods.ts";
import { aborted } from "../../base/abort.ts";
import { parseTime, SECOND, type Timer } from "../../base/clock.ts";
import { createMetrics } from "../../base/metrics.ts";
import { createTasks } from "../../base/tasks.ts";
import type { Controller } from "../control-loop/controller.ts";
import { namespacedKeyOf } from "../control-loop/namespaced-key.ts";
import { podNameOf } from "../control-loop/pods-by-node.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { pendingPodOf } from "./cluster.ts";
import { createClusterView } from "./cluster-view.ts";
import type { PendingDevices } from "./devices/device-view.ts";
import type { DevicePlan } from "./devices/plan-devices.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { planPlacement } from "./placement.ts";
import { createPlacementEffects, type SchedulerDeps } from "./placement-effects.ts";
import { readBudgets } from "./read-budgets.ts";
import { createSchedulerMetrics } from "./scheduler-metrics.ts";
import { createSchedulingQueue } from "./scheduling-queue.ts";

const NAME = "default-scheduler";
/** After this many pods the rest of the process gets a turn. */
const PODS_A_TURN = 32;
/** The most bindings and reports under way. Above it, the next pod waits until one of them ends. */
const MAX_WRITES = 256;
/** The other resources whose changes may help a waiting pod. */
const FOLLOWED: ReadonlyArray<readonly [string, ClusterChange]> = [
  ["persistentvolumeclaims", "storage"],
  ["persistentvolumes", "storage"],
  ["storageclasses.storage.k8s.io", "storage"],
  ["csidrivers.storage.k8s.io", "storage"],
  ["csinodes.storage.k8s.io", "storage"],
  ["csistoragecapacities.storage.k8s.io", "storage"],
  ["volumeattachments.storage.k8s.io", "storage"],
  ["resourceclaims.resource.k8s.io", "device"],
  ["resourceslices.resource.k8s.io", "device"],
  ["deviceclasses.resource.k8s.io", "device"],
  ["namespaces", "namespace"],
];

/** The changes that end the wait for a pod's volumes: they are bound, or the node no longer fits. */
const WAITS_FOR_VOLUMES: ReadonlySet<ClusterChange> = new Set(["storage", "node"]);

/**
 * Gives pods that ask for the default scheduler a node (`pkg/scheduler`). It decides in the turn after it hears of a
 * pod, on the state that is written, and does not wait for the disk between one pod and the next.
 */
export function createScheduler(deps: SchedulerDeps): Controller {
  const { reader, feed, clock } = deps;
  const view = createClusterView(reader);
  const events = createEventRecorder(deps, NAME);
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
      // The feed may be in the middle of telling several listeners of a change. All of them hear of it first.
      await Promise.resolve();
      isArmed = false;
      scheduleSome();
    });
  };
  const queue = createSchedulingQueue(clock, arm);
  const effects = createPlacementEffects(deps, { view, queue, events });
  const counted = createSchedulerMetrics(deps.metrics ?? createMetrics(), clock, queue.counts);

  const scheduleSome = () => {
    for (let count = 0; !stop.signal.aborted && tasks.running <= MAX_WRITES; count++) {
      if (count === PODS_A_TURN) {
        turn = clock.setTimer(0, arm);
        return;
      }
      const key = queue.next();
      if (key === undefined) return;
      const object = reader.get(podNameOf(key));
      if (object === undefined || !isPending(typed("Pod", object))) queue.remove(key);
      else schedule(key, object);
    }
  };
  const schedule = (key: string, object: KubeObject) => {
    const pod = pendingPodOf(typed("Pod", object));
    const cluster = view.current();
    const attempt = counted.begin();
    const placement = planPlacement({
      pod,
      cluster,
      nominated: view.nominated(),
      readBudgets: () => readBudgets(reader),
    });
    attempt.decided();
    if (placement.kind === "bind") {
      const { attempts, since } = queue.triesOf(key) ?? { attempts: 1, since: clock.monotonic() };
      view.assume(pod.info, placement.nodeName);
      const taken = assumeDevices(cluster.devices, placement.devices);
      write(key, async () => {
        const isBound = await effects.bind(key, object, placement).finally(() => {
          // Others wait for the same claims, and hear nothing of one that was not written.
          if (taken.forget()) queue.wake(["device"]);
        });
        attempt.end(isBound ? "scheduled" : "error");
        if (isBound) counted.placed({ attempts, seconds: (clock.monotonic() - since) / SECOND });
      });
      return;
    }
    if (placement.kind === "prepare") {
      view.nominate(pod.info, placement.nodeName);
      queue.park(key, WAITS_FOR_VOLUMES);
      write(key, () => effects.prepare(key, object, placement));
      return;
    }
    attempt.end("unschedulable");
    if (cluster.nodes.length > 0) counted.unfit(placement.preemption?.victims.length ?? 0);
    view.nominate(pod.info, placement.nominatedNode);
    queue.park(key, placement.helpedBy);
    write(key, () => effects.wait(key, object, placement));
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

  const followPod = (event: ResourceEvent) => {
    const changes = view.applyPod(event);
    const pod = typed("Pod", event.object);
    const key = namespacedKeyOf(event.object.metadata);
    if (event.type === "DELETED" || !isPending(pod)) queue.remove(key);
    else if (!view.isAssumed(key)) queue.put(queuedPodOf(key, pod));
    if (changes.length > 0) queue.wake(changes);
  };
  const follow = () => [
    feed.follow("nodes", (event) => queue.wake(view.applyNode(event))),
    feed.follow("services", view.applyService),
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

/** Counts the devices as taken until their claims are written, or cannot be. `forget` tells whether there were any. */
function assumeDevices(devices: PendingDevices, plan: DevicePlan): { forget(): boolean } {
  const uids = plan.flatMap(({ claim: { metadata }, allocation }) => {
    if (allocation === undefined) return [];
    devices.assume(metadata.uid ?? "", allocation);
    return [metadata.uid ?? ""];
  });
  return {
    forget() {
      uids.forEach(devices.forget);
      return uids.length > 0;
    },
  };
}

/** True for a pod that has no node, asks this scheduler for one, and may be placed. */
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

/**
 * The entry of the pod in the queue. Its version covers only the fields whose change may make the pod fit: its
 * requests, which count in the generation, its labels, and the claims that were made for it.
 */
function queuedPodOf(key: string, { metadata, spec, status }: Pod) {
  const { uid = "", generation = 0, labels = {}, creationTimestamp } = metadata ?? {};
  return {
    key,
    priority: spec?.priority ?? 0,
    createdAt: parseTime(creationTimestamp) ?? 0,
    version: `${uid}/${generation}/${JSON.stringify([labels, status?.resourceClaimStatuses])}`,
  };
}
