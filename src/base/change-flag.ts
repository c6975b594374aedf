import { childController, isAbort, sleep } from "./abort.ts";
import type { Clock } from "./clock.ts";

/** Remembers that something changed until a reader looks. */
export interface ChangeFlag {
  raise(): void;
  /**
   * Waits until the flag is raised, but no longer than `maxMs`; leaves it lowered and says whether it was raised.
   * Rejects with AbortedError when the signal fires.
   */
  wait(maxMs: number, signal: AbortSignal): Promise<boolean>;
  /** Waits until the flag was not raised for `quietMs`, but no longer than about `maxMs`; leaves it lowered. */
  settle(limits: { quietMs: number; maxMs: number }, signal: AbortSignal): Promise<void>;
}

export function createChangeFlag(clock: Clock): ChangeFlag {
  let isRaised = false;
  let wake: () => void = () => undefined;

  return {
    raise() {
      isRaised = true;
      wake();
    },
    async wait(maxMs, signal) {
      const { controller, release } = childController(signal);
      wake = () => controller.abort();
      try {
        if (!isRaised) await sleep(clock, maxMs, controller.signal);
      } catch (error) {
        if (signal.aborted || !isAbort(error)) throw error;
      } finally {
        release();
      }
      const wasRaised = isRaised;
      isRaised = false;
      return wasRaised;
    },
    async settle({ quietMs, maxMs }, signal) {
      const deadline = clock.monotonic() + maxMs;
      do {
        isRaised = false;
        await sleep(clock, quietMs, signal);
      } while (isRaised && clock.monotonic() < deadline);
      isRaised = false;
    },
  };
}
