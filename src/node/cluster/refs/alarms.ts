import { aborted, childController, sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";

/** Reports keys whose time has come, each once. */
export interface Alarms {
  /** Sets the key's time, counted from now; it replaces an earlier time of the key. */
  set(key: string, delayMs: number): void;
  clear(key: string): void;
  /**
   * Reports due keys until the signal fires; those that became due earlier are reported at once. `onDue` must not
   * throw.
   */
  run(signal: AbortSignal, onDue: (key: string) => void): Promise<void>;
}

/** All keys share one timer. */
export function createAlarms(clock: Clock): Alarms {
  const dueTimes = new Map<string, number>();
  let nextAt = Number.POSITIVE_INFINITY;
  let startOver = (): void => undefined;

  const findNext = () => {
    let earliest = Number.POSITIVE_INFINITY;
    for (const dueAt of dueTimes.values()) earliest = Math.min(earliest, dueAt);
    return earliest;
  };

  const waitForNext = async (signal: AbortSignal) => {
    const { controller, release } = childController(signal);
    startOver = () => controller.abort();
    nextAt = findNext();
    try {
      if (nextAt === Number.POSITIVE_INFINITY) await aborted(controller.signal);
      else await sleep(clock, nextAt - clock.monotonic(), controller.signal).catch(() => undefined);
    } finally {
      startOver = () => undefined;
      release();
    }
  };

  return {
    set(key, delayMs) {
      const dueAt = clock.monotonic() + delayMs;
      dueTimes.set(key, dueAt);
      if (dueAt < nextAt) startOver();
    },
    clear: (key) => dueTimes.delete(key),
    async run(signal, onDue) {
      while (!signal.aborted) {
        await waitForNext(signal);
        if (signal.aborted) return;
        const now = clock.monotonic();
        const due = [...dueTimes].flatMap(([key, dueAt]) => (dueAt <= now ? [key] : []));
        for (const key of due) {
          dueTimes.delete(key);
          onDue(key);
        }
      }
    },
  };
}
