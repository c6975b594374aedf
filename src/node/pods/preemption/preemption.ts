import type { Pod } from "../../../api/gen/types.ts";
import { podReference, podUid } from "../../../api/pods.ts";
import { childController } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import { createMailbox } from "../../../base/mailbox.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import type { Timeline } from "../../../base/timeline.ts";
import type { PodState, StatusOverride, WorkerUpdate } from "../workers/pod-state.ts";
import { planRoom, type Requirement } from "./plan-room.ts";

/**
 * Makes room for critical pods. The life of the room of one pod:
 *
 *   (none) ── makeRoom ──► making ── all have ended, or had their time ──► made ── release ──► (none)
 *                             └──────────────────── release ────────────────────────────────────┘
 *
 * As long as it is making or made, no other pod gets the room. A node agent that dies in between forgets it: the pods
 * that have ended stay so, and the next node agent admits the critical pod anew.
 */
interface Preemption {
  /** Ends other pods where that suffices; the pod is decidable when they have ended. */
  makeRoom(pod: Pod, wanted: { readonly missing: readonly Requirement[] }): PreemptionRefusal | "undecided";
  /** The pod was admitted or refused, or is no longer wanted. */
  release(uid: string): void;
  claimants(): readonly Pod[];
  isAwaited(uid: string): boolean;
  /** The pod had its time to end, and has not ended yet. */
  isOverdue(uid: string): boolean;
  /** The pod is decidable again when some room is made, or when no pod waits for room any longer. */
  queue(uid: string): void;
  /** Runs until the signal fires, and returns when no end is waited for any more. */
  run(signal: AbortSignal): Promise<void>;
}

/** Why room cannot be made. */
interface PreemptionRefusal {
  readonly reason: "UnexpectedAdmissionError";
  readonly message: string;
}

interface PreemptionDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly timeline: Pick<Timeline, "record">;
  readonly metrics: Metrics;
  readonly workers: {
    update(update: WorkerUpdate): void;
    state(uid: string): PodState | undefined;
    states(): ReadonlyMap<string, PodState>;
    untilStopped(uids: readonly string[], signal: AbortSignal): Promise<void>;
  };
  /** The pod is to be asked about again. */
  onDecidable(uid: string): void;
}

interface Making {
  readonly pod: Pod;
  readonly victims: ReadonlySet<string>;
  readonly awaited: ReadonlySet<string>;
  /** The resource that was missing first, which is the label of the metrics. */
  readonly signalName: string;
  readonly cancelled: AbortController;
  isMade: boolean;
}

const MESSAGE = "Preempted in order to admit critical pod";
/** It has no phase: upstream lets the containers decide, and its test suite asks for Succeeded where all end with 0. */
const VERDICT: StatusOverride = {
  reason: "Preempting",
  message: MESSAGE,
  disruption: "Pod was preempted by Kubelet to accommodate a critical pod.",
};
/**
 * The shortest wait for a pod's end. Upstream's `killPodNow` waits for one and a half grace periods, and no less than
 * this.
 */
const LEAST_WAIT_MS = 10 * SECOND;
const WAIT_PER_GRACE = 1.5;

/** Follows pkg/kubelet/preemption/preemption.go, but does not hold up the sync loop while other pods end. */
export function createPreemption(deps: PreemptionDeps): Preemption {
  const { clock, log, timeline, workers } = deps;
  const preemptions = deps.metrics.counter(
    "kubelet_preemptions",
    "Cumulative number of pod preemptions by preemption resource",
    ["preemption_signal"],
  );
  const makings = new Map<string, Making>();
  /** The waits for ends, at most one for each pod; `run` takes them. */
  const begun = createMailbox<Making>(Number.POSITIVE_INFINITY);
  /**
   * Pods that are not critical and wait for the rest of the room; else they would be refused for pods that are about
   * to go.
   */
  const queued = new Set<string>();
  const overdue = new Set<string>();

  const isOverdue = (uid: string) => {
    if (workers.state(uid)?.phase !== "terminating") overdue.delete(uid);
    return overdue.has(uid);
  };
  const podsIn = (phase: "syncing" | "terminating"): Pod[] =>
    [...workers.states().values()].flatMap(({ subject, ...state }) =>
      state.phase === phase && subject.kind === "pod" && !isOverdue(podUid(subject.pod)) ? [subject.pod] : [],
    );

  const preempt = (victim: Pod, pod: Pod, missing: readonly Requirement[]): void => {
    const causes = [{ reason: "RoomWanted", message: describeWanted(pod, missing), at: clock.now() }];
    timeline.record(podReference(victim), { type: "Warning", reason: "Preempting", message: MESSAGE, causes });
    log.info("Preempting pod to free up resources", {
      ...fieldsOf(victim),
      insufficientResources: formatRequirements(missing),
      requestingPod: fieldsOf(pod).pod,
    });
    const kill = { evicted: true, statusOverride: VERDICT };
    workers.update({ type: "kill", subject: { kind: "pod", pod: victim }, kill });
  };

  /** Upstream's `killPodNow`, from where the pod was told to end. */
  const awaitEnd = async (uid: string, making: Making, signal: AbortSignal): Promise<void> => {
    const state = workers.state(uid);
    if (state?.phase !== "terminating" || state.subject.kind !== "pod") return;
    const { pod } = state.subject;
    const isVictim = making.victims.has(uid);
    const limitMs = Math.max(LEAST_WAIT_MS, state.gracePeriodSeconds * WAIT_PER_GRACE * SECOND);
    const limit = { timeoutMs: limitMs, signal };
    if (await endsInTime(clock, limit, async (inner) => await workers.untilStopped([uid], inner))) {
      if (!isVictim) return;
      preemptions.add({ preemption_signal: making.signalName });
      log.info("Pod evicted successfully", fieldsOf(pod));
      return;
    }
    overdue.add(uid);
    log.error("Failed to evict pod", { ...fieldsOf(pod), error: "timeout waiting to kill pod" });
    if (!isVictim) return;
    const message = "Container runtime did not kill the pod within specified grace period.";
    timeline.record(podReference(pod), { type: "Warning", reason: "ExceededGracePeriod", message });
  };

  const awaitAll = async (making: Making, signal: AbortSignal): Promise<void> => {
    const { controller, release } = childController(signal);
    making.cancelled.signal.addEventListener("abort", () => controller.abort(), { once: true });
    if (making.cancelled.signal.aborted) controller.abort();
    try {
      await Promise.all([...making.awaited].map(async (uid) => await awaitEnd(uid, making, controller.signal)));
    } finally {
      release();
    }
    // The last of the pods may have ended just before, so that none was left to stop.
    if (controller.signal.aborted) return;
    making.isMade = true;
    deps.onDecidable(podUid(making.pod));
  };

  return {
    makeRoom(pod, { missing }) {
      const uid = podUid(pod);
      if (makings.get(uid)?.isMade === false) return "undecided";
      const occupants = { running: podsIn("syncing"), leaving: podsIn("terminating") };
      const { victims, awaited, unmet } = planRoom(pod, missing, occupants);
      if (unmet.length > 0) {
        const why = `no set of running pods found to reclaim resources: ${formatRequirements(unmet)}`;
        const error = `preemption: error finding a set of pods to preempt: ${why}`;
        const message = `Unexpected error while attempting to recover from admission failure: ${error}`;
        return { reason: "UnexpectedAdmissionError", message };
      }
      for (const victim of victims) preempt(victim, pod, missing);
      if (victims.length > 0) {
        const message = `${victims.map((victim) => fieldsOf(victim).pod).join(", ")} must end: ${describeWanted(pod, missing)}`;
        timeline.record(podReference(pod), { type: "Normal", reason: "MakingRoom", message });
      }
      const making: Making = {
        pod,
        victims: new Set(victims.map(podUid)),
        awaited: new Set([...victims, ...awaited].map(podUid)),
        signalName: missing[0]?.resource ?? "",
        cancelled: new AbortController(),
        isMade: false,
      };
      makings.set(uid, making);
      begun.offer(making);
      return "undecided";
    },
    release(uid) {
      queued.delete(uid);
      const making = makings.get(uid);
      if (making === undefined) return;
      makings.delete(uid);
      making.cancelled.abort();
      for (const waiting of queued) deps.onDecidable(waiting);
      queued.clear();
    },
    claimants: () => [...makings.values()].map(({ pod }) => pod),
    isAwaited: (uid) => [...makings.values()].some(({ awaited }) => awaited.has(uid)),
    isOverdue,
    queue: (uid) => queued.add(uid),
    async run(signal) {
      await runWithTasks(signal, async (tasks, inner) => {
        for (;;) {
          const making = await begun.take(inner);
          tasks.spawn(`room for ${podUid(making.pod)}`, async () => await awaitAll(making, inner));
        }
      });
    },
  };
}

function fieldsOf(pod: Pod): { pod: string; uid: string } {
  const { namespace, name, uid } = podReference(pod);
  return { pod: `${namespace}/${name}`, uid };
}

/** Says who needs room, and how much of what. */
function describeWanted(pod: Pod, missing: readonly Requirement[]): string {
  const amounts = missing.map(formatMore).join(", ");
  return `the critical pod ${fieldsOf(pod).pod} (priority ${pod.spec?.priority ?? 0}) needs ${amounts} than is free`;
}

function formatMore({ resource, amount }: Requirement): string {
  return `${resource === "cpu" ? `${amount}m` : amount} more ${resource}`;
}

/** Prints the resources as upstream does, with its trailing comma. */
function formatRequirements(requirements: readonly Requirement[]): string {
  return `[${requirements.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join("")}]`;
}
