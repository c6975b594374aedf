import { isApiError } from "../../api/api-error.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Metrics } from "../../base/metrics.ts";
import type { ResourceFeed, ResourceReader, ResourceWriter } from "../ports/resources.ts";
import type { QueueMetrics } from "./queue-metrics.ts";
import type { WorkQueue } from "./work-queue.ts";

/** A loop that keeps a part of the cluster as it should be. */
export interface Controller {
  /**
   * Runs until the signal fires, and returns when the work that is under way has ended. Rejects when the controller
   * contradicts itself; a failed API call is tried again.
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface ControllerDeps {
  reader: ResourceReader;
  writer: ResourceWriter;
  feed: ResourceFeed;
  clock: Clock;
  log: Log;
  /** The series of all work queues. Default: nobody wants to know. */
  queueMetrics?: QueueMetrics | undefined;
  /** Where a controller declares series of its own. Default: nobody wants to know. */
  metrics?: Metrics | undefined;
}

/** Follows first and works afterwards, so that no change is missed. Stops following however the work ends. */
export async function runFollowing(
  queue: WorkQueue,
  follow: () => ReadonlyArray<() => void>,
  signal: AbortSignal,
): Promise<void> {
  const stops = follow();
  try {
    await queue.run(signal);
  } finally {
    for (const stop of stops) stop();
  }
}

/**
 * Does the same as `runFollowing` for a controller that records events: it returns when all events have been written or
 * given up.
 */
export async function runFollowingWithEvents(
  queue: WorkQueue,
  follow: () => ReadonlyArray<() => void>,
  events: { settled(): Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  try {
    await runFollowing(queue, follow, signal);
  } finally {
    await events.settled();
  }
}

/** Waits for a write. Returns false when somebody else has removed or created the object meanwhile. */
export async function unlessOvertaken(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isApiError(error, "NotFound") || isApiError(error, "AlreadyExists")) return false;
    throw error;
  }
}
