import type { ContainerStatus, PodStatus } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import { CONFIG_SEEN_ANNOTATION } from "../../api/well-known.ts";
import { type Clock, parseTime, SECOND } from "../../base/clock.ts";
import type { Metrics } from "../../base/metrics.ts";
import { countContainerEnds } from "../pods/status/container-ends.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import type { NodeView } from "../server/handlers.ts";
import { declarePodGauges, type PodGaugesDeps } from "./pod-gauges.ts";

interface NodeMetricsDeps extends Omit<PodGaugesDeps, "statusOf"> {
  nodeName: string;
  cgroupVersion: 1 | 2;
  /** Who tells what containers use: the kernel, as the cadvisor library reads it, or the runtime. */
  statsProvider: "cadvisor" | "cri";
  clock: Clock;
  metrics: Metrics;
  statuses: Pick<PodStatuses, "get" | "subscribe">;
  discardedEvents(): number;
  /** Sets the gauges about volumes. */
  setVolumeGauges(): void;
}

/**
 * Upstream's buckets for pod starts begin at half a second. The smaller ones here are our own, to show faster starts.
 */
const START_BUCKETS = [
  0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900,
  1200, 1800, 2700, 3600,
];

/**
 * Declares the series about the pods of the node. Durations are observed when a status shows them. Gauges are set when
 * the page of metrics is made, which the returned function does.
 */
export function createNodeMetrics(deps: NodeMetricsDeps): NodeView["metrics"] {
  const { metrics, statuses } = deps;
  declareNode(deps);
  observeStarts(deps);
  countContainerEnds(metrics, statuses);
  countDiscarded(deps);
  metrics.beforeRender(declarePodGauges(metrics, { ...deps, statusOf: statuses.get }));
  metrics.beforeRender(deps.setVolumeGauges);
  return async () => ({ contentType: metrics.contentType, text: await metrics.render() });
}

function declareNode({ metrics, nodeName, cgroupVersion, statsProvider }: NodeMetricsDeps): void {
  metrics.gauge("kubelet_node_name", "The node's name. The count is always 1.", ["node"]).set(1, { node: nodeName });
  metrics.gauge("kubelet_cgroup_version", "cgroup version on the hosts.").set(cgroupVersion);
  const help = "Metrics provider used by kubelet to collect container stats. Values can be 'cadvisor' and 'cri'";
  metrics.gauge("kubelet_metrics_provider", help, ["provider"]).set(1, { provider: statsProvider });
}

function observeStarts({ metrics, clock, statuses, states }: NodeMetricsDeps): void {
  const startDuration = metrics.histogram(
    "kubelet_pod_start_duration_seconds",
    "Duration in seconds from kubelet seeing a pod for the first time to the pod starting to run",
    { buckets: START_BUCKETS },
  );
  /** The pods that were last seen Pending, by UID. */
  const pending = new Set<string>();
  statuses.subscribe(({ pod, status }) => {
    const uid = podUid(pod);
    if (status.phase === "Pending") {
      pending.add(uid);
      return;
    }
    const began = pending.delete(uid) && status.phase === "Running";
    const seenAt = parseTime(pod.metadata?.annotations?.[CONFIG_SEEN_ANNOTATION]);
    // A pod that ran before this node agent started says nothing about how fast this agent starts pods.
    if (began && seenAt !== undefined && restarts(status) === 0) startDuration.observe((clock.now() - seenAt) / SECOND);
    // Pods that disappeared without ever running are forgotten when any pod reports a phase other than Pending.
    for (const waiting of pending) if (!states().has(waiting)) pending.delete(waiting);
  });
}

function countDiscarded({ metrics, discardedEvents }: Pick<NodeMetricsDeps, "metrics" | "discardedEvents">): void {
  const discarded = metrics.counter("kubelet_pleg_discard_events", "The number of discard events in PLEG.");
  let counted = 0;
  metrics.beforeRender(() => {
    const all = discardedEvents();
    discarded.add(undefined, all - counted);
    counted = all;
  });
}

function restarts({ containerStatuses = [] }: PodStatus): number {
  return containerStatuses.reduce((sum: number, status: ContainerStatus) => sum + status.restartCount, 0);
}
