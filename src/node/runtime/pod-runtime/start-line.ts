import type { Clock } from "../../../base/clock.ts";
import { createLimiter } from "../../../base/limiter.ts";

/** The line that pods stand in for their first start, so that a burst does not slow every one of its pods. */
interface StartLine {
  /**
   * Runs `start` when its turn has come, in the order of arrival. A waiting call whose signal fires leaves the line and
   * rejects with AbortedError.
   */
  run<T>(start: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * The start of a pod is work for the CPU (namespaces, runc, CNI plugins). More starts at once are not faster in all,
 * and each of them takes longer. Eight keep two CPUs busy all the time, and larger machines nearly so.
 */
export const MAX_PARALLEL_STARTS = 8;
/**
 * A start that takes longer than this waits for something other than the CPU: an image, or a network plugin whose own pod is
 * still in this line. It goes on, but the next start may begin.
 */
export const START_TURN_MS = 2_000;

export function createStartLine(clock: Clock): StartLine {
  const limiter = createLimiter(MAX_PARALLEL_STARTS);
  return {
    async run(start, signal) {
      // The promise is wrapped in an object, because a bare promise would be awaited within the turn.
      const { running } = await limiter.run(async () => {
        const running = start();
        await settled(running, clock);
        return { running };
      }, signal);
      return await running;
    },
  };
}

/** Resolves when the promise has settled or the turn's time is over. */
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
