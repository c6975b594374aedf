import { type Profiler, Session } from "node:inspector";

/** Tells which inputs reach code that none before has reached, by the counters of the JavaScript engine. */
interface Coverage {
  /** What ran since the last call. */
  take(): CoverageSnapshot;
  /** Something in it is new to what was learned. */
  isNew(snapshot: CoverageSnapshot): boolean;
  learn(snapshot: CoverageSnapshot): void;
  /** Functions that were learned. */
  readonly functionCount: number;
  stop(): void;
}

/** For each function that ran, the ranges of its text that did not. */
type CoverageSnapshot = ReadonlyMap<string, readonly TextRange[]>;

type TextRange = readonly [start: number, end: number];

/**
 * Counts blocks from here on, in everything but this suite and Node.js's own code. The engine merges a block into its
 * surroundings where both ran equally often, so that a block that ran is not listed as such: what is compared are the
 * ranges that did not run.
 */
export function createCoverage(): Coverage {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const unreached = new Map<string, readonly TextRange[]>();
  return {
    take() {
      const snapshot = new Map<string, readonly TextRange[]>();
      for (const { scriptId, url, functions } of takeFrom(session)) {
        if (!isJudged(url)) continue;
        for (const { ranges } of functions) {
          const [whole, ...blocks] = ranges;
          if (whole === undefined || whole.count === 0) continue;
          const skipped = blocks.filter(({ count }) => count === 0);
          snapshot.set(
            `${scriptId}:${whole.startOffset}:${whole.endOffset}`,
            skipped.map(({ startOffset, endOffset }) => [startOffset, endOffset] as const),
          );
        }
      }
      return snapshot;
    },
    isNew: (snapshot) => {
      for (const [name, skipped] of snapshot) {
        const before = unreached.get(name);
        if (before === undefined || lengthOf(intersect(before, skipped)) < lengthOf(before)) return true;
      }
      return false;
    },
    learn(snapshot) {
      for (const [name, skipped] of snapshot) {
        const before = unreached.get(name);
        unreached.set(name, before === undefined ? skipped : intersect(before, skipped));
      }
    },
    get functionCount() {
      return unreached.size;
    },
    stop() {
      session.post("Profiler.disable");
      session.disconnect();
    },
  };
}

const isJudged = (url: string) => url.startsWith("file:") && !url.includes("/test/fuzz/");

/** The answer is there when the call returns: the session is one of this thread with itself. */
function takeFrom(session: Session): readonly Profiler.ScriptCoverage[] {
  let taken: readonly Profiler.ScriptCoverage[] = [];
  session.post("Profiler.takePreciseCoverage", (error, answer) => {
    if (error !== null) throw error;
    taken = answer.result;
  });
  return taken;
}

/** Both are in the order of the text, and nothing overlaps within one of them. */
function intersect(left: readonly TextRange[], right: readonly TextRange[]): TextRange[] {
  const both: TextRange[] = [];
  for (const [leftStart, leftEnd] of left) {
    for (const [rightStart, rightEnd] of right) {
      const start = Math.max(leftStart, rightStart);
      const end = Math.min(leftEnd, rightEnd);
      if (start < end) both.push([start, end]);
    }
  }
  return both;
}

function lengthOf(ranges: readonly TextRange[]): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}
