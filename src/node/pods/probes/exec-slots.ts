import { sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";

/** Lets a bounded number of tasks begin side by side. */
type Slots = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * A task that takes longer than `holdMs` gives its slot to the next and runs on: a burst is spread out, and a task that
 * hangs delays no other. Rejects as the task does, and when the signal fires while the task waits.
 */
export function createSlots(clock: Clock, { limit, holdMs }: { limit: number; holdMs: number }): Slots {
  const limiter = createLimiter(limit);
  return async <T>(task: () => Promise<T>, signal: AbortSignal) =>
    await new Promise<T>((resolve, reject) => {
      const hold = async () => {
        const over = new AbortController();
        task()
          .then(resolve, reject)
          .finally(() => over.abort());
        // The end of the task cuts the sleep short.
        await sleep(clock, holdMs, over.signal).catch(() => undefined);
      };
      limiter.run(hold, signal).catch(reject);
    });
}
