import { sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";

/**
 * Runs `task`, waits `periodMs` and repeats until the signal fires. Runs never overlap. An error of the task ends it.
 */
export async function repeat(
  clock: Clock,
  options: { periodMs: number; signal: AbortSignal; delayFirst?: boolean },
  task: () => Promise<void> | void,
): Promise<void> {
  if (options.delayFirst) await sleep(clock, options.periodMs, options.signal);
  while (!options.signal.aborted) {
    await task();
    await sleep(clock, options.periodMs, options.signal);
  }
}
