import type { Pod, Volume } from "../../../api/gen/types.ts";
import { isHostNetworkPod, isRestartableInitContainer, isTerminalPhase } from "../../../api/pods.ts";
import { type Clock, parseTime, SECOND } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Timeline, TimelineRecord } from "../../../base/timeline.ts";

/**
 * Measures how long pods took from their creation until a watch of the API server showed all their containers started,
 * which is the subject of Kubernetes' promise about starts (pkg/kubelet/util/pod_startup_latency_tracker.go). A pod is
 * followed from when it is first shown, still without a start, until it has started, has ended or is forgotten.
 */
interface PodStartLatency {
  /** The API server shows this pod, or this mirror. */
  show(pod: Pod): void;
  forget(uid: string): void;
  /** Pods that are followed. */
  podUids(): readonly string[];
}

interface PodStartLatencyDeps {
  readonly clock: Pick<Clock, "now">;
  readonly metrics: Metrics;
  readonly timeline: Pick<Timeline, "subscribe">;
  /** The UID by which the node knows a pod that the API server shows. */
  uidOf(pod: Pod): string;
}

/** The pulls of one pod: they come one after another, and a pull that fails counts with the wait after it. */
interface Pulls {
  pullingSince: number | undefined;
  pulledMs: number;
}

const BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];

export function createPodStartLatency({ clock, metrics, timeline, uidOf }: PodStartLatencyDeps): PodStartLatency {
  const observe = declareSeries(metrics);
  const starting = new Map<string, Pulls>();

  timeline.subscribe(({ pod, reason, at }: TimelineRecord) => {
    const pulls = starting.get(pod.uid);
    if (pulls === undefined) return;
    if (reason === "Pulling") pulls.pullingSince ??= at;
    if (reason !== "Pulled" || pulls.pullingSince === undefined) return;
    pulls.pulledMs += at - pulls.pullingSince;
    pulls.pullingSince = undefined;
  });

  return {
    show(pod) {
      const uid = uidOf(pod);
      const pulls = starting.get(uid);
      if (pulls === undefined) {
        if (isFresh(pod)) starting.set(uid, { pullingSince: undefined, pulledMs: 0 });
        return;
      }
      const createdAt = parseTime(pod.metadata?.creationTimestamp);
      if (isTerminalPhase(pod.status?.phase)) starting.delete(uid);
      else if (hasStarted(pod) && createdAt !== undefined) {
        starting.delete(uid);
        observe(pod, clock.now() - createdAt, pulls.pulledMs + initContainersMs(pod));
      }
    },
    forget: (uid) => starting.delete(uid),
    podUids: () => [...starting.keys()],
  };
}

function declareSeries(metrics: Metrics): (pod: Pod, wholeMs: number, notOursMs: number) => void {
  const measured =
    "measured from pod creation timestamp to when all its containers are reported as started and observed via watch";
  const total = metrics.histogram(
    "kubelet_pod_start_total_duration_seconds",
    `Duration in seconds to start a pod since creation, including time to pull images and run init containers, ${measured}`,
    { buckets: BUCKETS },
  );
  const promised = metrics.histogram(
    "kubelet_pod_start_sli_duration_seconds",
    `Duration in seconds to start a pod, excluding time to pull images and run init containers, ${measured}`,
    { buckets: BUCKETS },
  );
  const first = metrics.gauge(
    "kubelet_first_network_pod_start_sli_duration_seconds",
    `Duration in seconds to start the first network pod, excluding time to pull images and run init containers, ${measured}`,
  );
  let hasSeenNetwork = false;
  return (pod, wholeMs, notOursMs) => {
    total.observe(wholeMs / SECOND);
    if (pod.spec?.volumes?.some(isStateful) === true) return;
    const seconds = (wholeMs - notOursMs) / SECOND;
    promised.observe(seconds);
    if (hasSeenNetwork || isHostNetworkPod(pod)) return;
    hasSeenNetwork = true;
    first.set(seconds);
  };
}

/**
 * True where no node has begun to run the pod. A pod that had to wait for a node says nothing about this one's starts.
 */
function isFresh({ status }: Pod): boolean {
  if (isTerminalPhase(status?.phase) || status?.startTime !== undefined) return false;
  return status?.conditions?.some((one) => one.type === "PodScheduled" && one.status === "False") !== true;
}

function hasStarted({ spec, status }: Pod): boolean {
  const { containerStatuses = [] } = status ?? {};
  const isRunning = containerStatuses.every(({ state }) => state?.running?.startedAt !== undefined);
  return isRunning && containerStatuses.length > 0 && containerStatuses.length === spec?.containers.length;
}

/** The total time of the init containers that run before the main ones; sidecars, which go on, do not count. */
function initContainersMs({ spec, status }: Pod): number {
  const sidecars = new Set(spec?.initContainers?.filter(isRestartableInitContainer).map(({ name }) => name));
  const lengths = (status?.initContainerStatuses ?? []).map(({ name, state }) => {
    const [startedAt, finishedAt] = [parseTime(state?.terminated?.startedAt), parseTime(state?.terminated?.finishedAt)];
    if (sidecars.has(name) || startedAt === undefined || finishedAt === undefined) return 0;
    return Math.max(0, finishedAt - startedAt);
  });
  return lengths.reduce((sum, ms) => sum + ms, 0);
}

/** True for a volume that the promise excludes: attaching it, or others who provide it, take a time of their own. */
function isStateful({ secret, configMap, downwardAPI, emptyDir, projected }: Volume): boolean {
  return [secret, configMap, downwardAPI, emptyDir, projected].every((source) => source === undefined);
}
