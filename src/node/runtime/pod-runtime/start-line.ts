import type { Clock } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";

/** The line that pods stand in for their first start, so that a burst does not slow every one of its pods. */
interface StartLine {
  /**
   * Runs `start` when its turn has come, in arrival order. Who waits and is no longer wanted leaves the line and rejects
   * with AbortedError.
   */
  run<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * Starting a pod is work for the CPU (namespaces, runc, CNI plugins): more of them at once end no sooner in all, but each
 * ends later. With eight, two CPUs are busy all the time, and larger machines nearly so.
 */
export const MAX_PARALLEL_STARTS = 8;
/**
 * A start that takes longer waits for something else than the CPU (an image, a network plugin whose own pod still stands
 * in this line) and must not hold up the others: it goes on, and the next may begin.
 */
export const START_TURN_MS = 2_000;

export function createStartLine(clock: Clock): StartLine {
  const limiter = createLimiter(MAX_PARALLEL_STARTS);
  return {
    async run(start, signal) {
      // Wrapped, because a promise that is returned bare would be waited for inside the turn.
      const { running } = await limiter.run(async () => {
        const running = start();
        await settled(running, clock);
        return { running };
      }, signal);
      return await running;
    },
  };
}

/** Resolves when the promise has settled, or the turn is over. */
async function settled(running: Promise<unknown>, clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => {
    const turn = clock.setTimer(START_TURN_MS, resolve);
    const end = () => {
      turn.cancel();
      resolve();
    };
    running.then(end, end);
  });
}
