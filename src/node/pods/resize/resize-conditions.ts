import type { Container, Pod, PodCondition } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { type Clock, formatTime } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Timeline } from "../../../base/timeline.ts";
import { createResizeGauges } from "./resize-metrics.ts";

/** How far the resizes of pods are, as their conditions and events tell it (upstream: status_manager.go, events/resize.go). */
export interface ResizeConditions {
  /** The conditions of a pod; none where it has what it asks for. */
  of(uid: string): PodCondition[];
  /** Takes over what the API server shows of a pod that an agent before this one had. */
  adopt(pod: Pod): void;
  /** The node cannot grant the resize: for now, or never. */
  pend(pod: Pod, why: PendingReason): void;
  /** The resize was granted, and has to be carried out. */
  start(pod: Pod): void;
  /** Nothing is asked for that was not granted. */
  clearPending(uid: string): void;
  /** The containers have what was granted, or have not. */
  observe(pod: Pod, isInProgress: boolean): void;
  /** The resize could not be carried out, and is tried again. */
  fail(pod: Pod, message: string): void;
  forget(uid: string): void;
  /** The pods whose resizes the node cannot grant now. */
  pendingUids(): string[];
}

interface PendingReason {
  /** What a predicate says (`OutOfcpu`), which is told as Deferred, or Infeasible. */
  readonly reason: string;
  readonly message: string;
}

interface Known {
  readonly pending: PodCondition | undefined;
  readonly inProgress: PodCondition | undefined;
}

const NOTHING: Known = { pending: undefined, inProgress: undefined };

interface ResizeConditionsDeps {
  readonly clock: Pick<Clock, "now">;
  readonly timeline: Timeline;
  readonly metrics: Metrics;
}

export function createResizeConditions(deps: ResizeConditionsDeps): ResizeConditions {
  const known = new Map<string, Known>();
  const showCounts = createResizeGauges(deps.metrics);
  const find = (uid: string): Known => known.get(uid) ?? NOTHING;
  const put = (uid: string, next: Known): void => {
    if (next.pending === undefined && next.inProgress === undefined) known.delete(uid);
    else known.set(uid, next);
    showCounts([...known.values()].map(listConditions));
  };
  const condition = (type: string, { metadata }: Pod, { reason, message }: Partial<PendingReason>): PodCondition => ({
    type,
    status: "True",
    lastProbeTime: formatTime(deps.clock.now()),
    ...(metadata?.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(reason && { reason }),
    ...(message && { message }),
  });
  const tell = (pod: Pod, type: "Normal" | "Warning", reason: string, message: string) =>
    deps.timeline.record(podReference(pod), { type, reason, message });

  return {
    of(uid) {
      return listConditions(find(uid));
    },
    adopt(pod) {
      const shown = (type: string) =>
        pod.status?.conditions?.find((each) => each.type === type && each.status === "True");
      put(podUid(pod), { pending: shown("PodResizePending"), inProgress: shown("PodResizeInProgress") });
    },
    pend(pod, { reason: why, message }) {
      const before = find(podUid(pod));
      const reason = why === "Infeasible" ? why : "Deferred";
      const pending = condition("PodResizePending", pod, { reason, message });
      const isNews =
        before.pending?.reason !== reason || before.pending.observedGeneration !== pending.observedGeneration;
      put(podUid(pod), {
        ...before,
        pending: isNews || before.pending?.message !== message ? pending : before.pending,
      });
      if (isNews) tell(pod, "Warning", `Resize${reason}`, summarize(`Pod resize ${why}`, pod, message));
    },
    start(pod) {
      put(podUid(pod), { pending: undefined, inProgress: condition("PodResizeInProgress", pod, {}) });
      tell(pod, "Normal", "ResizeStarted", summarize("Pod resize started", pod));
    },
    clearPending: (uid) => put(uid, { ...find(uid), pending: undefined }),
    observe(pod, isInProgress) {
      const before = find(podUid(pod));
      if ((before.inProgress !== undefined) === isInProgress) return;
      put(podUid(pod), {
        ...before,
        inProgress: isInProgress ? condition("PodResizeInProgress", pod, {}) : undefined,
      });
      if (!isInProgress) tell(pod, "Normal", "ResizeCompleted", summarize("Pod resize completed", pod));
    },
    fail(pod, message) {
      const before = find(podUid(pod));
      if (before.inProgress?.reason === "Error" && before.inProgress.message === message) return;
      put(podUid(pod), { ...before, inProgress: condition("PodResizeInProgress", pod, { reason: "Error", message }) });
      tell(pod, "Warning", "ResizeError", summarize("Pod resize error", pod, message));
    },
    forget: (uid) => put(uid, NOTHING),
    pendingUids: () => [...known].flatMap(([uid, { pending }]) => (pending?.reason === "Deferred" ? [uid] : [])),
  };
}

function listConditions({ pending, inProgress }: Known): PodCondition[] {
  return [pending, inProgress].filter((each) => each !== undefined);
}

/** The text of an event, with the resources that the pod asks for, as JSON in upstream's order of fields. */
function summarize(what: string, { metadata, spec }: Pod, error?: string): string {
  const describe = ({ name, resources = {} }: Container) => ({ name, resources });
  const { initContainers = [], containers = [] } = spec ?? {};
  const summary = {
    ...(initContainers.length > 0 && { initContainers: initContainers.map(describe) }),
    ...(containers.length > 0 && { containers: containers.map(describe) }),
    generation: metadata?.generation ?? 0,
    ...(error !== undefined && { error }),
  };
  return `${what}: ${JSON.stringify(summary)}`;
}
