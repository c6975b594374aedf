import type { Pod } from "../../../api/gen/types.ts";
import { type PodReference, podReference } from "../../../api/pods.ts";
import type { StatusOverride, Subject, WorkerUpdate } from "./pod-state.ts";

/**
 * The works that a worker runs, one call at a time for each pod. Every call may be repeated: it brings the pod nearer
 * to its desired state and ends. Rejecting means "not yet"; the worker tries again after a back-off, or at
 * `RetryError.retryAt`.
 */
export interface PodSyncer {
  /**
   * Makes the pod run. `terminal`: the pod ran to its end (Succeeded or Failed). `retryAt`: the latest time to look
   * again.
   */
  syncPod(work: SyncWork): Promise<SyncResult>;
  /**
   * Publishes the status of the pod as it was read last, and does nothing else: for a pod whose next attempt has to
   * wait.
   */
  reportPod(pod: Pod): void;
  /** Stops everything of the pod; resolves when nothing of it runs. */
  syncTerminatingPod(work: TerminatingWork): Promise<void>;
  /**
   * Gives back what a stopped pod still holds; with `deleted` also removes its containers, logs, directories and
   * status. Where the pod begins anew, the logs and directories stay.
   */
  syncTerminatedPod(work: TerminatedWork): Promise<void>;
}

/** The work that brings the pod nearer to its manifest. */
interface SyncWork {
  pod: Pod;
  signal: AbortSignal;
  /** The update that the work follows from; a periodic look is a `sync`, which is the default. */
  updateType?: WorkerUpdate["type"] | undefined;
}

export interface SyncResult {
  terminal: boolean;
  /** Milliseconds since the epoch. */
  retryAt?: number;
}

/** The work that stops everything of the pod; the override is for its status. */
interface TerminatingWork {
  subject: Subject;
  gracePeriodSeconds: number;
  statusOverride: StatusOverride | undefined;
  evicted: boolean;
  signal: AbortSignal;
  /** See SyncWork. */
  updateType?: WorkerUpdate["type"] | undefined;
}

/** The work that gives back what the pod held; with `deleted`, all of it. */
interface TerminatedWork {
  subject: Subject;
  deleted: boolean;
  /** A pod of the same UID begins when this one is gone. Default: none does. */
  beginsAnew?: boolean;
  signal: AbortSignal;
}

/** The pod has to wait until a known time: the worker comes back then and does not count a failure. */
export class RetryError extends Error {
  override readonly name = "RetryError";
  readonly retryAt: number;

  constructor(message: string, retryAt: number, options?: { cause?: unknown }) {
    super(message, options);
    this.retryAt = retryAt;
  }
}

/** A failure like any other, but something of the pod is due at `retryBy`, even where the back-off is longer. */
export class IncompleteSyncError extends Error {
  override readonly name = "IncompleteSyncError";
  /** Milliseconds since the epoch. */
  readonly retryBy: number;

  constructor(message: string, retryBy: number, options?: { cause?: unknown }) {
    super(message, options);
    this.retryBy = retryBy;
  }
}

/** The names of a subject of either kind. */
export function referenceOf(subject: Subject): PodReference {
  if (subject.kind === "pod") return podReference(subject.pod);
  const { uid, name, namespace } = subject.pod;
  return { uid, name, namespace };
}
