import { computeBackOff } from "../../../base/back-off.ts";
import type { Clock, Timer } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { jitter, type Random } from "../../../base/random.ts";
import {
  afterWork,
  nextState,
  type PodState,
  type Transition,
  type WorkerUpdate,
  type WorkKind,
  workOf,
} from "./pod-state.ts";
import { IncompleteSyncError, type PodSyncer, RetryError, referenceOf } from "./pod-syncer.ts";

/**
 * The worker of one pod: holds its state and runs the work of that state, one at a time. Updates that come while it
 * works coalesce: the state remembers the newest, and one more run follows.
 */
export interface PodWorker {
  readonly state: PodState;
  update(update: WorkerUpdate): void;
  /** Starts the work that the state owes now or, where one runs, after that one. */
  wake(): void;
  /** Cancels what runs and resolves when it has ended; the worker does nothing afterwards. */
  stop(): Promise<void>;
}

interface PodWorkerDeps {
  clock: Clock;
  random: Random;
  log: Log;
  syncer: PodSyncer;
  /** False while another static pod of the same full name has to go first. */
  mayStart(): boolean;
  /** The state changed. */
  onState(state: PodState): void;
  /** The pod is gone; called once, and the worker does nothing afterwards. */
  onGone(last: PodState): void;
  /** A work failed, other than by an abort or a RetryError. */
  onFailure(state: PodState, work: WorkKind, error: unknown): void;
}

export interface PodWorkerOptions {
  /** A pod is looked at again after this long × 1…1.5 even when nothing happened. */
  resyncMs: number;
  /** The longest wait after failures, × 1…1.5. */
  backOffMs: number;
}

const JITTER = 0.5;
/**
 * The wait after the first failure; it doubles with each further one in a row, up to `backOffMs`. Most failures are
 * over soon (a runtime that restarts, a name that is still reserved), so the first wait is a tenth of upstream's.
 */
const FIRST_BACK_OFF_MS = 1_000;

export function createPodWorker(initial: PodState, deps: PodWorkerDeps, options: PodWorkerOptions): PodWorker {
  let state = initial;
  let running: { controller: AbortController; done: Promise<void> } | undefined;
  /** The most that came while it worked: nothing, a hint to look again, or a change that must be worked on. */
  let pending: "nothing" | "look" | "work" = "nothing";
  /** The type of the newest update since the last work began; an `update` does not replace a `create`. */
  let cause: WorkerUpdate["type"] = "sync";
  let timer: Timer | undefined;
  /** How many works failed in a row. */
  let failures = 0;
  let stopped = false;
  const log = deps.log.with({ pod: state.fullName, uid: referenceOf(state.subject).uid });

  const enter = (next: PodState) => {
    if (next.phase !== state.phase) log.debug("pod changes phase", { from: state.phase, to: next.phase }, 3);
    state = next;
    deps.onState(state);
  };

  const unschedule = () => {
    timer?.cancel();
    timer = undefined;
  };
  const schedule = (delayMs: number) => {
    unschedule();
    timer = deps.clock.setTimer(delayMs, start);
  };
  /**
   * Starts work for a hint that the pod changed. The wait after a failure stands, because the failed attempt may have
   * made the change itself (a sandbox that was made and lost), and its hints would never end. Until the wait is over
   * the change is only reported.
   */
  const look = () => {
    if (running !== undefined) {
      if (pending === "nothing") pending = "look";
    } else if (failures === 0) start();
    else if (state.phase === "syncing" && state.subject.kind === "pod") deps.syncer.reportPod(state.subject.pod);
  };

  /** Starts the work that the state owes; where a work runs, it starts after that one. */
  function start(): void {
    unschedule();
    if (stopped) return;
    if (running !== undefined) {
      pending = "work";
      return;
    }
    if (workOf(state) === undefined) return;
    if (state.phase === "syncing" && !deps.mayStart()) {
      log.debug("pod waits for another of its name to go first");
      return;
    }
    pending = "nothing";
    const controller = new AbortController();
    running = { controller, done: run(controller.signal) };
  }

  async function run(signal: AbortSignal): Promise<void> {
    // One turn of the event queue, so that updates sent together are seen together: the work is chosen after it.
    await Promise.resolve();
    const work = workOf(state);
    const wait = work === undefined || signal.aborted ? 0 : await attempt(work, signal);
    running = undefined;
    if (stopped) return;
    if (pending === "work" || wait === 0) start();
    else if (pending === "look" && failures === 0) start();
    else if (wait !== undefined) schedule(wait);
  }

  async function attempt(work: WorkKind, signal: AbortSignal): Promise<number | undefined> {
    try {
      const updateType = cause;
      cause = "sync";
      const wait = await perform(state, { work, updateType }, signal);
      failures = 0;
      return wait;
    } catch (error) {
      // A cancelled work was for a state that is over, so that its error does not matter.
      return signal.aborted ? 0 : delayAfter(error, work);
    }
  }

  /** Does the work and moves on; returns the wait before the next one: 0 for none, undefined for "until told". */
  async function perform(current: PodState, owed: OwedWork, signal: AbortSignal): Promise<number | undefined> {
    const { work } = owed;
    const result = await doWork(deps.syncer, current, owed, signal);
    if (stopped) return undefined;
    // The state may have moved meanwhile (a kill during a sync): a work counts only for the phase that it was done for.
    const before = state;
    if (isOutdated(current, before)) return 0;
    const moved = afterWork(before, work, { terminal: result.terminal });
    if (moved === undefined) {
      stopped = true;
      deps.onGone(before);
      return undefined;
    }
    if (moved !== before) {
      enter(moved);
      return 0;
    }
    if (workOf(before) === undefined) return undefined;
    if (work !== workOf(before)) return 0;
    return computeNextLookMs(deps, options, result);
  }

  function delayAfter(error: unknown, work: WorkKind): number {
    if (error instanceof RetryError) {
      log.debug("pod is not there yet", { reason: error.message });
      return Math.max(1, error.retryAt - deps.clock.now());
    }
    log.error("Error syncing pod, will be tried again", { work, error: messageOf(error) });
    deps.onFailure(state, work, error);
    return computeBackOffMs(deps, options, { error, failures: ++failures });
  }

  return {
    get state() {
      return state;
    },
    update(update) {
      if (stopped) return;
      const transition: Transition = nextState(state, update);
      enter(transition.state);
      if (transition.cancel) running?.controller.abort();
      if (transition.work === undefined) return;
      if (update.type !== "sync") cause = cause === "create" && update.type === "update" ? cause : update.type;
      if (update.type === "sync") look();
      else start();
    },
    wake() {
      start();
    },
    async stop() {
      stopped = true;
      unschedule();
      running?.controller.abort();
      await running?.done;
    },
  };
}

/**
 * True where the pod was torn down to be kept, or to begin anew, and is to be removed by now: the tear-down has to be done
 * again.
 */
function isOutdated(doneFor: PodState, now: PodState): boolean {
  if (doneFor.phase !== "terminated" || now.phase !== "terminated") return false;
  return doneFor.deleted !== now.deleted || (doneFor.restartRequested && !now.restartRequested);
}

/** How long until a pod whose work succeeded is looked at again. */
function computeNextLookMs({ clock, random }: PodWorkerDeps, options: PodWorkerOptions, result: WorkResult): number {
  const resync = jitter(random, options.resyncMs, JITTER);
  const retry = result.retryAt === undefined ? resync : Math.max(0, result.retryAt - clock.now());
  return Math.max(1, Math.min(resync, retry));
}

/** How long after an error the work is tried again; `failures` in a row came before it. */
function computeBackOffMs(
  { clock, random }: PodWorkerDeps,
  options: PodWorkerOptions,
  { error, failures }: { error: unknown; failures: number },
): number {
  const wait = computeBackOff(failures, { initialMs: FIRST_BACK_OFF_MS, maxMs: options.backOffMs });
  const backOff = jitter(random, wait, JITTER);
  const due = error instanceof IncompleteSyncError ? error.retryBy - clock.now() : backOff;
  return Math.max(1, Math.min(backOff, due));
}

interface OwedWork {
  work: WorkKind;
  updateType: WorkerUpdate["type"];
}

interface WorkResult {
  terminal: boolean;
  retryAt?: number;
}

async function doWork(
  syncer: PodSyncer,
  state: PodState,
  { work, updateType }: OwedWork,
  signal: AbortSignal,
): Promise<WorkResult> {
  const { subject } = state;
  if (state.phase === "syncing") {
    // An orphan never syncs: its first update already terminates it.
    return subject.kind === "pod" ? await syncer.syncPod({ pod: subject.pod, signal, updateType }) : { terminal: true };
  }
  const { deleted, evicted, gracePeriodSeconds, statusOverride, restartRequested: beginsAnew } = state;
  if (work === "terminating") {
    await syncer.syncTerminatingPod({ subject, gracePeriodSeconds, statusOverride, evicted, signal, updateType });
  } else {
    await syncer.syncTerminatedPod({ subject, deleted, beginsAnew, signal });
  }
  return { terminal: false };
}
