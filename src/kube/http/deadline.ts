import { AbortedError } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { TIMED_OUT } from "./transport/wire.ts";

/** The time of a call, and the signals that end it early. */
export interface CallDeadline {
  /** Its reason is TIMED_OUT when the time is over. */
  readonly signal: AbortSignal;
  readonly isTimedOut: boolean;
  readonly timeoutMs: number | undefined;
  /** The time that is left is no longer counted; the parents still are. */
  stopClock(): void;
  /** Leaves no timer and no listener behind. */
  release(): void;
}

/** Fires with each of `parents`; `timeoutMs` undefined: no limit. Throws AbortedError when a parent has fired. */
export function createDeadline(
  clock: Clock,
  { parents, timeoutMs }: { parents: ReadonlyArray<AbortSignal | undefined>; timeoutMs: number | undefined },
): CallDeadline {
  if (parents.some((parent) => parent?.aborted)) throw new AbortedError();
  const controller = new AbortController();
  const { signal } = controller;
  const onAbort = () => controller.abort(new AbortedError());
  for (const parent of parents) parent?.addEventListener("abort", onAbort, { once: true });
  const timer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, () => controller.abort(TIMED_OUT));
  return {
    signal,
    get isTimedOut() {
      return signal.reason === TIMED_OUT;
    },
    timeoutMs,
    stopClock: () => timer?.cancel(),
    release() {
      timer?.cancel();
      for (const parent of parents) parent?.removeEventListener("abort", onAbort);
    },
  };
}
