import type { ContainerStatus, Pod, PodStatus } from "../api/gen/types.ts";
import { isStaticPod, podUid } from "../api/pods.ts";
import { CONFIG_SEEN_ANNOTATION } from "../api/well-known.ts";
import { type Clock, parseTime } from "../base/clock.ts";
import type { Metrics } from "../base/metrics.ts";
import type { ContainerState, RuntimePod } from "./runtime/pod-runtime-status.ts";
import type { NodeView } from "./server/handlers.ts";
import type { PodStatuses } from "./status/pod-statuses.ts";
import type { PodState } from "./workers/pod-state.ts";

export interface NodeMetricsDeps {
  nodeName: string;
  clock: Clock;
  metrics: Metrics;
  statuses: Pick<PodStatuses, "subscribe">;
  desiredPods(): Pod[];
  states(): ReadonlyMap<string, PodState>;
  runtimePods(): ReadonlyMap<string, RuntimePod>;
  discardedEvents(): number;
  /** Sets the gauges about volumes. */
  setVolumeGauges(): void;
}

/** Upstream's buckets for pod starts go from half a second on; the first ones here are ours, to see below that. */
const START_BUCKETS = [
  0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 600, 1800, 3600,
];

/**
 * The series about the pods of the node. Durations are observed when a status shows them; gauges are set when the page of
 * metrics is made, which is what the returned function does.
 */
export function createNodeMetrics(deps: NodeMetricsDeps): NodeView["metrics"] {
  const { metrics, clock } = deps;
  const startDuration = metrics.histogram(
    "kubelet_pod_start_duration_seconds",
    "From when the node first saw the pod to when its status said Running.",
    { buckets: START_BUCKETS },
  );
  /** Pods that were last seen Pending. */
  const pending = new Set<string>();
  deps.statuses.subscribe(({ pod, status }) => {
    const uid = podUid(pod);
    if (status.phase === "Pending") {
      pending.add(uid);
      return;
    }
    const began = pending.delete(uid) && status.phase === "Running";
    const seenAt = parseTime(pod.metadata?.annotations?.[CONFIG_SEEN_ANNOTATION]);
    // A pod that ran before this node agent did says nothing about how fast we start pods.
    if (began && seenAt !== undefined && restarts(status) === 0) startDuration.observe((clock.now() - seenAt) / 1000);
    // Those that went without ever running are forgotten with the next pod that runs.
    for (const waiting of pending) if (!deps.states().has(waiting)) pending.delete(waiting);
  });
  const setGauges = declareGauges(deps);
  return async () => {
    setGauges();
    deps.setVolumeGauges();
    return { contentType: metrics.contentType, text: await metrics.render() };
  };
}

function declareGauges(deps: NodeMetricsDeps): () => void {
  const { metrics } = deps;
  const runningPods = metrics.gauge("kubelet_running_pods", "Pods with a running sandbox.");
  const runningContainers = metrics.gauge("kubelet_running_containers", "Containers by state.", ["container_state"]);
  const desired = metrics.gauge("kubelet_desired_pods", "Pods that the sources name.", ["static"]);
  const working = metrics.gauge("kubelet_working_pods", "Pods that the node works on, by life cycle.", [
    "lifecycle",
    "static",
  ]);
  const discarded = metrics.gauge(
    "kubelet_pleg_discard_events",
    "Life cycle events dropped because the loop was full.",
  );
  metrics.gauge("kubelet_node_name", "The node's name; always 1.", ["node"]).set(1, { node: deps.nodeName });

  return () => {
    const pods = [...deps.runtimePods().values()];
    const wanted = deps.desiredPods();
    const states = [...deps.states().values()];
    runningPods.set(pods.filter(({ sandboxes }) => sandboxes.some(({ state }) => state === "ready")).length);
    for (const state of ["created", "running", "exited", "unknown"] satisfies ContainerState[]) {
      const all = pods.flatMap((pod) => pod.containers);
      runningContainers.set(all.filter((container) => container.state === state).length, { container_state: state });
    }
    for (const isStatic of [true, false]) {
      const label = { static: isStatic ? "true" : "false" };
      desired.set(wanted.filter((pod) => isStaticPod(pod) === isStatic).length, label);
      for (const phase of ["syncing", "terminating", "terminated", "finished"] satisfies Array<PodState["phase"]>) {
        const lifecycle = phase === "syncing" ? "sync" : phase;
        const count = states.filter((state) => state.phase === phase && isStaticState(state) === isStatic).length;
        working.set(count, { lifecycle, ...label });
      }
    }
    discarded.set(deps.discardedEvents());
  };
}

function isStaticState({ subject }: PodState): boolean {
  return subject.kind === "pod" && isStaticPod(subject.pod);
}

function restarts({ containerStatuses = [] }: PodStatus): number {
  return containerStatuses.reduce((sum: number, status: ContainerStatus) => sum + status.restartCount, 0);
}
