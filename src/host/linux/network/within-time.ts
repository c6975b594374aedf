import { AbortedError, childController, throwIfAborted } from "../../../base/abort.ts";
import { systemClock } from "../system/system-clock.ts";

/** The end of the time that a request has. */
export interface Deadline {
  /** Fires when the time is over, and when the caller gives up. */
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
}

/**
 * Settles as the task does; the task must heed the signal of its deadline. Rejects with `AbortedError` when `signal`
 * has fired. Whatever the task has left open is then broken.
 */
export async function withinTime<T>(
  timeoutMs: number,
  signal: AbortSignal,
  task: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const { controller, release } = childController(signal);
  let isOver = false;
  const timer = systemClock.setTimer(timeoutMs, () => {
    isOver = true;
    controller.abort();
  });
  try {
    const outcome = await task({ signal: controller.signal, isOver: () => isOver });
    if (signal.aborted) throw new AbortedError();
    return outcome;
  } catch (error) {
    throw signal.aborted ? new AbortedError() : error;
  } finally {
    timer.cancel();
    release();
    controller.abort();
  }
}
