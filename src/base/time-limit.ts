import { childController, isAbort, throwIfAborted, untilAborted } from "./abort.ts";
import type { Clock } from "./clock.ts";
import { CodedError } from "./errors.ts";

interface TimeLimit {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Whether the task ended in time. Its own signal fires when the time is over, and it has to heed that: it is waited for.
 * Rejects as the task does, with AbortedError when `signal` fires.
 */
export async function endsInTime(
  clock: Clock,
  { timeoutMs, signal }: TimeLimit,
  task: (signal: AbortSignal) => Promise<void>,
): Promise<boolean> {
  throwIfAborted(signal);
  const { controller, release } = childController(signal);
  const timer = clock.setTimer(timeoutMs, () => controller.abort());
  try {
    await task(controller.signal);
    return true;
  } catch (error) {
    if (signal.aborted || !isAbort(error)) throw error;
    return false;
  } finally {
    timer.cancel();
    release();
  }
}

/**
 * Settles as the task does, but rejects with `timed-out` when it takes longer than it may; `what` is for the message:
 * "reading the node's status". The task's own signal fires then; whether it heeds that or not, nobody waits for it any more.
 */
export async function withDeadline<T>(
  clock: Pick<Clock, "setTimer">,
  { timeoutMs, signal, what }: TimeLimit & { readonly what: string },
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const { controller, release } = childController(signal);
  const timer = clock.setTimer(timeoutMs, () => controller.abort());
  try {
    return await untilAborted(task(controller.signal), controller.signal);
  } catch (error) {
    throwIfAborted(signal);
    if (!controller.signal.aborted) throw error;
    throw new CodedError("timed-out", `${what} took longer than ${timeoutMs} ms`, { cause: error });
  } finally {
    timer.cancel();
    release();
  }
}
