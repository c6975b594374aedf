import { MINUTE, SECOND } from "../../../../base/clock.ts";

/** The value of a counter of processor time, and the monotonic time in milliseconds when it was read. */
interface CpuSample {
  readonly usageNanoseconds: number;
  readonly at: number;
}

/** Computes processor rates: nanoseconds of processor time per second since an earlier reading. */
interface CpuRates {
  /**
   * Takes a reading of a counter and returns its rate, which is undefined while there is nothing to compare it with.
   * `ageMs` says how long the counter has counted from 0, where that is known: the rate of a young counter is its mean
   * since it began.
   */
  observe(key: string, sample: CpuSample, ageMs?: number): number | undefined;
  /** Drops the counters whose last reading is before this time. */
  forget(before: number): void;
  readonly size: number;
}

/** Processor time is counted in slices of milliseconds, so a shorter window says nothing. */
export const MIN_WINDOW_MS = 100;
/** A caller who asks more often than this still gets a mean over at least this long. */
const STEP_MS = 5 * SECOND;
/** A reading older than this says nothing about the present. */
const MAX_WINDOW_MS = 2 * MINUTE;

interface Counter {
  /** The reading that `latest` replaced. It is at least one step older. */
  readonly earlier: CpuSample | undefined;
  readonly latest: CpuSample;
  readonly rate: number | undefined;
}

/**
 * Upstream samples every cgroup every ten seconds, whether a client asks or not. Here each request is a sample: a
 * client that asks regularly gets the mean since its last request, as from upstream, and no requests cost nothing.
 */
export function createCpuRates(): CpuRates {
  const counters = new Map<string, Counter>();
  return {
    observe(key, sample, ageMs) {
      const known = usable(counters.get(key), sample);
      const next = known === undefined ? begin(sample, ageMs) : advance(known, sample);
      counters.set(key, next);
      return next.rate;
    },
    forget(before) {
      for (const [key, { latest }] of counters) if (latest.at < before) counters.delete(key);
    },
    get size() {
      return counters.size;
    },
  };
}

/**
 * Returns the counter if the sample continues it. A counter whose value decreased is a new counter of the same name.
 */
function usable(counter: Counter | undefined, { usageNanoseconds, at }: CpuSample): Counter | undefined {
  if (counter === undefined) return undefined;
  const isSame = usageNanoseconds >= counter.latest.usageNanoseconds && at - counter.latest.at <= MAX_WINDOW_MS;
  return isSame ? counter : undefined;
}

function begin(sample: CpuSample, ageMs: number | undefined): Counter {
  const isYoung = ageMs !== undefined && ageMs >= MIN_WINDOW_MS && ageMs <= MAX_WINDOW_MS;
  const rate = isYoung ? rateOver(sample.usageNanoseconds, ageMs) : undefined;
  return { earlier: undefined, latest: sample, rate };
}

function advance({ earlier, latest, rate }: Counter, sample: CpuSample): Counter {
  const isStep = sample.at - latest.at >= STEP_MS;
  const from = isStep ? latest : (earlier ?? latest);
  const windowMs = sample.at - from.at;
  const used = sample.usageNanoseconds - from.usageNanoseconds;
  const next = windowMs >= MIN_WINDOW_MS ? rateOver(used, windowMs) : rate;
  return isStep ? { earlier: latest, latest: sample, rate: next } : { earlier, latest, rate: next };
}

function rateOver(nanoseconds: number, windowMs: number): number {
  return Math.round((nanoseconds * SECOND) / windowMs);
}
