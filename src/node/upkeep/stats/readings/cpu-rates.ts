import { MINUTE, SECOND } from "../../../../base/clock.ts";

/** What a counter of processor time said, and when by the monotonic clock. */
interface CpuSample {
  readonly usageNanoseconds: number;
  readonly at: number;
}

/** Processors in use: nanoseconds of them a second, over the time since an earlier reading. */
interface CpuRates {
  /**
   * Takes a reading of a counter and gives its rate; undefined while there is nothing to compare it with. `ageMs`: how
   * long it has counted from 0, where that is known: a young counter is its own mean.
   */
  observe(key: string, sample: CpuSample, ageMs?: number): number | undefined;
  /** Drops the counters that were not read after this time. */
  forget(before: number): void;
  readonly size: number;
}

/** Processor time comes in slices of milliseconds: a shorter window says nothing. */
export const MIN_WINDOW_MS = 100;
/** Who asks more often than this still gets a mean over at least as long. */
const STEP_MS = 5 * SECOND;
/** What was read before that says nothing about now. */
const MAX_WINDOW_MS = 2 * MINUTE;

interface Counter {
  /** What `latest` replaced, at least a step ago. */
  readonly earlier: CpuSample | undefined;
  readonly latest: CpuSample;
  readonly rate: number | undefined;
}

/**
 * Upstream samples every cgroup every ten seconds, asked or not. Here a request is a sample: who asks regularly gets the
 * mean since the last time, as from upstream, and nobody's asking costs nothing.
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

/** A counter that went back is another one of the same name. */
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
