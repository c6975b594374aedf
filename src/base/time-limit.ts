import { childController, isAbort, throwIfAborted, untilAborted } from "./abort.ts";
import type { Clock } from "./clock.ts";
import { CodedError } from "./errors.ts";

interface TimeLimit {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Tells whether the task ended in time. The task's own signal fires when the time is over, and the task must heed it,
 * because this function waits for the task. Rejects as the task does, and with `AbortedError` when `signal` fires.
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
 * Settles as the task does, but rejects with `timed-out` when the task takes longer than `timeoutMs`. `what` is for the
 * message: "reading the node's status". The task's own signal fires then. No caller waits for the task after that,
 * whether or not it heeds the signal.
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
