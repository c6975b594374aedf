import { childController, throwIfAborted, untilAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";

interface DeadlineOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Of the error: "reading the node's status". */
  readonly what: string;
}

/**
 * Settles as the task does, but rejects with `timed-out` when it takes longer. The task's own signal fires then; whether
 * it heeds that or not, nobody waits for it any more.
 */
export async function withDeadline<T>(
  clock: Clock,
  { timeoutMs, signal, what }: DeadlineOptions,
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
