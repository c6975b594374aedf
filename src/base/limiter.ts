import { AbortedError } from "./abort.ts";

/**
 * Lets at most `limit` tasks run at once; the rest wait in arrival order. A waiting task whose signal fires leaves the
 * line and rejects with `AbortedError`. The limiter does not stop a task that runs.
 */
export interface Limiter {
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Tasks that run now. */
  readonly active: number;
  /** Tasks that wait now. */
  readonly waiting: number;
}

export function createLimiter(limit: number): Limiter {
  const line: Array<() => void> = [];
  let active = 0;

  const enter = async (signal: AbortSignal | undefined): Promise<void> => {
    if (signal?.aborted) throw new AbortedError();
    if (active < limit) {
      active++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const proceed = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        const place = line.indexOf(proceed);
        if (place >= 0) line.splice(place, 1);
        reject(new AbortedError());
      };
      line.push(proceed);
      signal?.addEventListener("abort", leave, { once: true });
    });
  };
  /** The place passes straight to the next task in line, so that `active` never dips and no task overtakes another. */
  const exit = () => {
    const next = line.shift();
    if (next) next();
    else active--;
  };

  return {
    async run(task, signal) {
      await enter(signal);
      try {
        return await task();
      } finally {
        exit();
      }
    },
    get active() {
      return active;
    },
    get waiting() {
      return line.length;
    },
  };
}
