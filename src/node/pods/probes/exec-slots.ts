import { sleep } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";

/** Lets a bounded number of tasks begin side by side. */
type Slots = <T>(task: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/**
 * A task that takes longer than `holdMs` gives its slot to the next and runs on: so a burst is smoothed, and what hangs
 * delays nobody. Rejects as the task does, and when the signal fires while it waits.
 */
export function createSlots(clock: Clock, { limit, holdMs }: { limit: number; holdMs: number }): Slots {
  const limiter = createLimiter(limit);
  return async <T>(task: () => Promise<T>, signal: AbortSignal) =>
    await new Promise<T>((resolve, reject) => {
      const hold = async () => {
        const over = new AbortController();
        void task()
          .then(resolve, reject)
          .finally(() => over.abort());
        // Cut short by the end of the task.
        await sleep(clock, holdMs, over.signal).catch(() => undefined);
      };
      limiter.run(hold, signal).catch(reject);
    });
}
