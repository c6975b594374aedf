import { childController, isAbort, sleep } from "../../../../base/abort.ts";
import { computeBackOff } from "../../../../base/back-off.ts";
import type { Clock } from "../../../../base/clock.ts";
import { jitter, type Random } from "../../../../base/random.ts";

/** The waits between failed attempts and the next ones, by key, and what ends such a wait early. */
interface RetryWaits {
  /** Waits after a failure, longer each time. Rejects with AbortedError when the signal fires. */
  wait(key: string, failure: { isOutage: boolean }, signal: AbortSignal): Promise<void>;
  /** The attempt succeeded: the next failure is a first one. */
  succeed(key: string): void;
  /** The last attempt failed. */
  isFailing(key: string): boolean;
  /** Ends the wait of a key at once, as if its attempts had never failed. */
  forget(key: string): void;
  /**
   * The API server answers: ends the waits of the keys whose attempts could not reach it. A key is woken early once,
   * and then again only after it has waited in full.
   */
  wakeAfterOutage(): void;
  wakeAll(): void;
}

const INITIAL_MS = 1_000;
const MAX_MS = 30_000;
/** The share of the delay that is added at random, so that pods that failed together do not come back together. */
const JITTER = 0.2;
/**
 * During an outage all waiting keys together make one attempt in this time, though none waits for less than its own
 * delay or for more than `MAX_MS`. With few pods the return of the API server is noticed soon; with many they do not
 * all fall upon it at once.
 */
const OUTAGE_SHARE_MS = 250;
const OUTAGE_MIN_CAP_MS = 5_000;

interface Wait {
  readonly isOutage: boolean;
  end(): void;
}

interface Failing {
  count: number;
  /** It was woken before its time, and has not waited in full since. */
  wokenEarly: boolean;
}

export function createRetryWaits({ clock, random }: { clock: Clock; random: Random }): RetryWaits {
  const failing = new Map<string, Failing>();
  const waits = new Map<string, Wait>();

  const delayOf = ({ count }: Failing, isOutage: boolean): number => {
    const delay = computeBackOff(count, { initialMs: INITIAL_MS, maxMs: MAX_MS });
    const cap = isOutage ? Math.max(OUTAGE_MIN_CAP_MS, Math.min(waits.size * OUTAGE_SHARE_MS, MAX_MS)) : MAX_MS;
    return jitter(random, Math.min(delay, cap), JITTER);
  };

  return {
    async wait(key, { isOutage }, signal) {
      const known = failing.get(key) ?? { count: 0, wokenEarly: false };
      failing.set(key, known);
      // The delay does not grow beyond ten failures.
      known.count = Math.min(known.count + 1, 10);
      const { controller, release } = childController(signal);
      const wait: Wait = { isOutage, end: () => controller.abort() };
      waits.set(key, wait);
      try {
        await sleep(clock, delayOf(known, isOutage), controller.signal);
        known.wokenEarly = false;
      } catch (error) {
        if (signal.aborted || !isAbort(error)) throw error;
      } finally {
        release();
        if (waits.get(key) === wait) waits.delete(key);
      }
    },
    succeed: (key) => failing.delete(key),
    isFailing: (key) => failing.has(key),
    forget(key) {
      failing.delete(key);
      waits.get(key)?.end();
    },
    wakeAfterOutage() {
      for (const [key, wait] of waits) {
        const known = failing.get(key);
        if (!wait.isOutage || known === undefined || known.wokenEarly) continue;
        known.wokenEarly = true;
        wait.end();
      }
    },
    wakeAll() {
      for (const wait of waits.values()) wait.end();
    },
  };
}
