import type { Pod, PodStatus } from "../../api/gen/types.ts";
import { isStaticPod, isTerminalPhase, podUid } from "../../api/pods.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { PodState } from "../pods/workers/pod-state.ts";
import type { ContainerState, RuntimePod } from "../runtime/reading/pod-runtime-status.ts";

/** The sources of the gauges, each of which knows of pods in its own way. */
export interface PodGaugesDeps {
  /** All pods that the sources name, except mirror pods. */
  desiredPods(): readonly Pod[];
  mirrorPods(): readonly Pod[];
  states(): ReadonlyMap<string, PodState>;
  runtimePods(): ReadonlyMap<string, RuntimePod>;
  statusOf(uid: string): PodStatus | undefined;
}

/** The values of the label `static`, as upstream writes them: an empty text means that a pod is not static. */
const STATIC = ["true", ""] as const;

/**
 * Declares the gauges of how many pods and containers there are, under upstream's names and labels
 * (pkg/kubelet/kubelet_pods.go, HandlePodCleanups; pkg/kubelet/pleg/generic.go). The returned function sets them.
 */
export function declarePodGauges(metrics: Metrics, deps: PodGaugesDeps): () => void {
  const setRuntime = declareRuntimeGauges(metrics);
  const setDesired = declareDesiredGauges(metrics);
  const setWorking = declareWorkingGauges(metrics);
  return () => {
    const desired = deps.desiredPods();
    const states = deps.states();
    setRuntime([...deps.runtimePods().values()]);
    setDesired({
      desired,
      active: desired.filter((pod) => isActive(states.get(podUid(pod)), deps.statusOf(podUid(pod)) ?? pod.status)),
      mirrors: deps.mirrorPods().length,
    });
    setWorking([...states.values()], new Set(desired.map(podUid)));
  };
}

function declareRuntimeGauges(metrics: Metrics): (pods: readonly RuntimePod[]) => void {
  const runningPods = metrics.gauge("kubelet_running_pods", "Number of pods that have a running pod sandbox");
  const containers = metrics.gauge("kubelet_running_containers", "Number of containers currently running", [
    "container_state",
  ]);
  return (pods) => {
    runningPods.set(pods.filter(({ sandboxes }) => sandboxes.some(({ state }) => state === "ready")).length);
    const all = pods.flatMap((pod) => pod.containers);
    for (const container_state of ["created", "running", "exited", "unknown"] satisfies ContainerState[]) {
      containers.set(all.filter(({ state }) => state === container_state).length, { container_state });
    }
  };
}

interface DesiredCounts {
  desired: readonly Pod[];
  active: readonly Pod[];
  mirrors: number;
}

function declareDesiredGauges(metrics: Metrics): (counts: DesiredCounts) => void {
  const ofSource = "static is true if the pod is not from the apiserver.";
  const desiredPods = metrics.gauge(
    "kubelet_desired_pods",
    `The number of pods the kubelet is being instructed to run. ${ofSource}`,
    ["static"],
  );
  const activePods = metrics.gauge(
    "kubelet_active_pods",
    `The number of pods the kubelet considers active and which are being considered when admitting new pods. ${ofSource}`,
    ["static"],
  );
  const mirrorPods = metrics.gauge(
    "kubelet_mirror_pods",
    "The number of mirror pods the kubelet will try to create (one per admitted static pod)",
  );
  const ephemeralContainers = metrics.gauge(
    "kubelet_managed_ephemeral_containers",
    "Current number of ephemeral containers in pods managed by this kubelet.",
  );
  return ({ desired, active, mirrors }) => {
    for (const label of STATIC) {
      const isLabelled = (pod: Pod) => isStaticPod(pod) === (label === "true");
      desiredPods.set(desired.filter(isLabelled).length, { static: label });
      activePods.set(active.filter(isLabelled).length, { static: label });
    }
    mirrorPods.set(mirrors);
    ephemeralContainers.set(desired.reduce((sum, { spec }) => sum + (spec?.ephemeralContainers?.length ?? 0), 0));
  };
}

/**
 * The lifecycle label of each phase. Finished pods are kept for their status and logs, and upstream counts them among
 * the terminated pods.
 */
const LIFECYCLES = {
  syncing: "sync",
  terminating: "terminating",
  terminated: "terminated",
  finished: "terminated",
} as const;

function declareWorkingGauges(metrics: Metrics): (states: readonly PodState[], desired: ReadonlySet<string>) => void {
  const working = metrics.gauge(
    "kubelet_working_pods",
    "Number of pods the kubelet is actually running, broken down by lifecycle phase, whether the pod is desired, " +
      "orphaned, or runtime only (also orphaned), and whether the pod is static. An orphaned pod has been removed from " +
      "local configuration or force deleted in the API and consumes resources that are not otherwise visible.",
    ["lifecycle", "config", "static"],
  );
  return (states, desired) => {
    for (const lifecycle of new Set(Object.values(LIFECYCLES))) {
      const counts = new Map<string, number>(KINDS.map((kind) => [kind.join("/"), 0]));
      for (const state of states) {
        const kind = kindOf(state, desired).join("/");
        if (LIFECYCLES[state.phase] === lifecycle) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      }
      for (const [config, label] of KINDS) {
        working.set(counts.get(`${config}/${label}`) ?? 0, { lifecycle, config, static: label });
      }
    }
  };
}

type Kind = readonly [config: "desired" | "orphan" | "runtime_only", label: "true" | "" | "unknown"];

const KINDS: readonly Kind[] = [
  ...STATIC.map((label) => ["desired", label] as const),
  ...STATIC.map((label) => ["orphan", label] as const),
  ["runtime_only", "unknown"],
];

function kindOf({ subject }: PodState, desired: ReadonlySet<string>): Kind {
  if (subject.kind === "orphan") return ["runtime_only", "unknown"];
  return [desired.has(podUid(subject.pod)) ? "desired" : "orphan", isStaticPod(subject.pod) ? "true" : ""];
}

/** Tells whether a pod is neither over nor refused (`filterOutInactivePods`). */
function isActive(state: PodState | undefined, status: PodStatus | undefined): boolean {
  if (state !== undefined) return state.phase === "syncing" || state.phase === "terminating";
  return !isTerminalPhase(status?.phase);
}
