import type { Clock } from "./clock.ts";

/** The one error that means "asked to stop". It is not a failure and is never logged as one. */
export class AbortedError extends Error {
  override readonly name = "AbortError";

  constructor(what = "aborted") {
    super(what);
  }
}

/** True for our own AbortedError and for the DOMException that `AbortSignal` and Node.js APIs throw. */
export function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === "AbortError";
}

/** Throws AbortedError when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortedError();
}

/** Resolves after `ms`; rejects with AbortedError as soon as the signal fires. Leaves no timer and no listener behind. */
export async function sleep(clock: Pick<Clock, "setTimer">, ms: number, signal?: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      timer.cancel();
      reject(new AbortedError());
    };
    const timer = clock.setTimer(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Settles as `promise` does, but rejects with AbortedError when the signal fires first. The promise itself goes on. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  throwIfAborted(signal);
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(new AbortedError());
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Resolves when the signal fires (at once if it has). */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** A controller that follows `parent` and can be aborted on its own; `release` detaches it from the parent. */
export function childController(parent: AbortSignal): { controller: AbortController; release: () => void } {
  const controller = new AbortController();
  const follow = () => controller.abort();
  if (parent.aborted) controller.abort();
  else parent.addEventListener("abort", follow, { once: true });
  return { controller, release: () => parent.removeEventListener("abort", follow) };
}

/**
 * A signal that fires this long after `parent` does: for work that is better finished than broken off. `release` leaves
 * no timer and no listener behind.
 */
export function delayedSignal(
  parent: AbortSignal,
  clock: Clock,
  ms: number,
): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  let cancel = () => {};
  const wait = () => {
    const timer = clock.setTimer(ms, () => controller.abort());
    cancel = () => timer.cancel();
  };
  if (parent.aborted) wait();
  else parent.addEventListener("abort", wait, { once: true });
  return {
    signal: controller.signal,
    release() {
      parent.removeEventListener("abort", wait);
      cancel();
    },
  };
}
