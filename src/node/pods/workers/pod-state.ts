import type { Pod } from "../../../api/gen/types.ts";
import { isTerminalPhase } from "../../../api/pods.ts";
import type { RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";

/**
 * The life of one pod on this node. Only the worker of the pod changes it; `nextState` and `afterWork` are the whole
 * table of transitions.
 *
 *               update                 deleted, evicted, terminal phase, orphaned
 *     (none) ───────────► syncing ─────────────────────────────┐
 *        ▲                 │  ▲ update, timer                   ▼
 *        │                 └──┘                            terminating ◄─┐ grace period shortened
 *        │                                                      │  └─────┘
 *        │ removed: forgotten,                                  ▼ nothing of it runs
 *        │ or started anew                                 terminated
 *        │                                                      │ volumes torn down
 *        └──────────────── (removed) ◄──────────────────── finished     kept while its source still names it
 *
 * A pod never goes back. A new pod of the same UID waits (`restartRequested`) until the old one is gone.
 */
export type PodState = SyncingState | TerminatingState | TerminatedState | FinishedState;

interface CommonState {
  /** The pod, which a source named, or which only the runtime knows. */
  subject: Subject;
  /** `name_namespace`; one static pod of a full name runs at a time. */
  fullName: string;
  /** A pod of this UID was added again while this one was going. */
  restartRequested: boolean;
}

export type Subject = { kind: "pod"; pod: Pod } | { kind: "orphan"; pod: RuntimePod };

/** The pod shall run. */
interface SyncingState extends CommonState {
  phase: "syncing";
}

interface EndingState extends CommonState {
  /** No source names the pod any more, or it is marked for deletion: everything of it shall go. */
  deleted: boolean;
  evicted: boolean;
  /** Seconds; it only ever becomes shorter. */
  gracePeriodSeconds: number;
  /** The newest of the reasons for which the pod ends (eviction, deadline), as its status shall say them. */
  statusOverride: StatusOverride | undefined;
}

/** The pod shall stop within its grace period. */
interface TerminatingState extends EndingState {
  phase: "terminating";
}

/** Nothing of the pod runs; its volumes and its cgroup are being given back. */
interface TerminatedState extends EndingState {
  phase: "terminated";
}

/** Everything is given back; the pod is kept for its status and logs. */
interface FinishedState extends EndingState {
  phase: "finished";
}

/** Overrides of the pod's published status. */
export interface StatusOverride {
  phase?: "Failed" | "Succeeded";
  reason: string;
  message: string;
  /**
   * The message of the pod's condition DisruptionTarget, where the node ends the pod for its own sake. Default: none.
   */
  disruption?: string;
}

/** A message of the sync loop to a worker. */
export interface WorkerUpdate {
  /**
   * `create`: a source added the pod. `update`: its spec changed or it is marked for deletion. `sync`: look again.
   * `kill`: end it, for `kill`'s reason.
   */
  type: "create" | "update" | "sync" | "kill";
  subject: Subject;
  kill?: KillOptions;
}

export interface KillOptions {
  /** No source names the pod any more. */
  deleted?: boolean;
  evicted?: boolean;
  /** Overrides the pod's own grace period, in seconds. */
  gracePeriodSeconds?: number;
  statusOverride?: StatusOverride;
}

/** The work of a phase, which the worker must run next. */
export type WorkKind = "sync" | "terminating" | "terminated";

export interface Transition {
  state: PodState;
  /** Work to queue; undefined when the update changes nothing for this worker. */
  work: WorkKind | undefined;
  /** The sync in flight works for a state that is over: cancel it. */
  cancel: boolean;
}

/** The state of a pod that no worker knows, and the update that names it for the first time. */
export function initialState(update: WorkerUpdate, fullName: string): PodState {
  return { phase: "syncing", subject: update.subject, fullName, restartRequested: false };
}

/** What an update does to a pod. Pure; `computeGracePeriod` below gives the seconds. */
export function nextState(state: PodState, update: WorkerUpdate): Transition {
  switch (state.phase) {
    case "syncing":
      return fromSyncing(state, update);
    case "terminating":
      return fromTerminating(state, update);
    case "terminated":
    case "finished":
      return fromEnded(state, update);
  }
}

function fromSyncing(state: SyncingState, update: WorkerUpdate): Transition {
  const { subject } = update;
  if (!mustTerminate(update)) return { state: { ...state, subject }, work: "sync", cancel: false };
  const ending: TerminatingState = {
    ...state,
    subject,
    phase: "terminating",
    deleted: isDeletion(update),
    evicted: update.kill?.evicted === true,
    gracePeriodSeconds: computeGracePeriod(subject, update.kill),
    statusOverride: update.kill?.statusOverride,
  };
  return { state: ending, work: "terminating", cancel: true };
}

function fromTerminating(state: TerminatingState, update: WorkerUpdate): Transition {
  if (isNewLife(update)) return { state: { ...state, restartRequested: true }, work: undefined, cancel: false };
  const asked = computeGracePeriod(update.subject, update.kill);
  const shortened = asked < state.gracePeriodSeconds;
  const next: TerminatingState = {
    ...state,
    subject: state.subject.kind === "pod" && update.subject.kind === "orphan" ? state.subject : update.subject,
    deleted: state.deleted || isDeletion(update),
    evicted: state.evicted || update.kill?.evicted === true,
    gracePeriodSeconds: shortened ? asked : state.gracePeriodSeconds,
    statusOverride: update.kill?.statusOverride ?? state.statusOverride,
    restartRequested: state.restartRequested && !isDeletion(update),
  };
  return { state: next, work: "terminating", cancel: shortened };
}

function fromEnded(state: TerminatedState | FinishedState, update: WorkerUpdate): Transition {
  // Housekeeping saw an old picture of the runtime; the pod's source decides whether the pod goes.
  if (update.subject.kind === "orphan" && state.subject.kind === "pod") {
    return { state, work: undefined, cancel: false };
  }
  if (isNewLife(update) && state.deleted) {
    return { state: { ...state, restartRequested: true }, work: undefined, cancel: false };
  }
  const becomesDeleted = !state.deleted && isDeletion(update);
  const next = {
    ...state,
    deleted: state.deleted || becomesDeleted,
    restartRequested: state.restartRequested && !isDeletion(update),
  };
  // A finished pod was kept for its logs and status; now that its source dropped it the rest of it goes too.
  if (becomesDeleted) return { state: { ...next, phase: "terminated" }, work: "terminated", cancel: false };
  return { state: next, work: undefined, cancel: false };
}

/**
 * The state after the work of its phase was done without error; undefined when the pod is gone and may be forgotten.
 */
export function afterWork(state: PodState, work: WorkKind, outcome: { terminal: boolean }): PodState | undefined {
  if (state.phase === "syncing") {
    if (work !== "sync" || !outcome.terminal) return state;
    const gracePeriodSeconds = computeGracePeriod(state.subject, undefined);
    return {
      ...state,
      phase: "terminating",
      deleted: false,
      evicted: false,
      gracePeriodSeconds,
      statusOverride: undefined,
    };
  }
  if (state.phase === "terminating") return work === "terminating" ? { ...state, phase: "terminated" } : state;
  if (state.phase === "terminated") {
    if (work !== "terminated") return state;
    return state.deleted ? undefined : { ...state, phase: "finished" };
  }
  return state;
}

/** The work that a state still owes; undefined for a finished pod. */
export function workOf(state: PodState): WorkKind | undefined {
  switch (state.phase) {
    case "syncing":
      return "sync";
    case "terminating":
      return "terminating";
    case "terminated":
      return "terminated";
    case "finished":
      return undefined;
  }
}

function mustTerminate(update: WorkerUpdate): boolean {
  if (update.type === "kill" || update.subject.kind === "orphan") return true;
  const { metadata, status } = update.subject.pod;
  return metadata?.deletionTimestamp !== undefined || isTerminalPhase(status?.phase);
}

function isDeletion(update: WorkerUpdate): boolean {
  if (update.subject.kind === "orphan" || update.kill?.deleted === true) return true;
  return update.subject.pod.metadata?.deletionTimestamp !== undefined;
}

function isNewLife(update: WorkerUpdate): boolean {
  return update.type === "create" && !mustTerminate(update);
}

/** The limit for an orphan, whose spec is gone: its containers get the grace periods of their annotations within it. */
const ORPHAN_GRACE_PERIOD_SECONDS = 30;

/**
 * Seconds that the containers get to stop: an override, else the API's deletionGracePeriodSeconds, else the pod's own.
 * At least 1, as upstream's `calculateEffectiveGracePeriod` (pkg/kubelet/pod_workers.go) makes it, because 0 means
 * "forget it" to an API server and not "kill it" to a runtime.
 */
export function computeGracePeriod(subject: Subject, kill: KillOptions | undefined): number {
  const own =
    subject.kind === "pod"
      ? (subject.pod.metadata?.deletionGracePeriodSeconds ?? subject.pod.spec?.terminationGracePeriodSeconds)
      : undefined;
  return Math.max(1, kill?.gracePeriodSeconds ?? own ?? ORPHAN_GRACE_PERIOD_SECONDS);
}
