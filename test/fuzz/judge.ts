import { BrokenPromise, type FindingKind, type RunningTarget } from "./target.ts";
import { watchTurns } from "./turns.ts";

/** What an input did that none may do. */
export interface Verdict {
  readonly kind: FindingKind;
  readonly message: string;
}

/** Gives inputs to a target, one at a time. */
export interface Judge {
  /** Undefined: nothing is wrong with what the target did. */
  judge(input: Buffer): Promise<Verdict | undefined>;
  /** The longest turn of the event loop in all inputs so far, in milliseconds as the clock counts them. */
  readonly slowestMs: number;
  stop(): void;
}

/** No input may keep the event loop for longer, in time of the processor. */
const STALL_MS = 100;
/** A stall counts when it is there each time: the first run of a function is slower than all others. */
const STALL_REPEATS = 5;
/** Against inputs for which nothing ever comes back. Machines that are busy answer a hundred times as late. */
const ANSWER_MS = 60_000;

export function createJudge(target: RunningTarget): Judge {
  const turns = watchTurns();
  let slowestMs = 0;

  const runOnce = async (input: Buffer, exactly: boolean): Promise<Verdict | number> => {
    turns.begin(exactly);
    try {
      const running = target.run(input);
      if (running !== undefined && !(await endsInTime(running))) {
        return { kind: "hang", message: `nothing came back within ${ANSWER_MS / 1000} s` };
      }
    } catch (error) {
      return describe(error);
    }
    return turns.longestMs();
  };

  return {
    async judge(input) {
      const first = await runOnce(input, false);
      if (typeof first !== "number") return first;
      slowestMs = Math.max(slowestMs, first);
      if (first <= STALL_MS) return undefined;
      let shortest = Number.POSITIVE_INFINITY;
      for (let repeat = 0; repeat < STALL_REPEATS && shortest > STALL_MS; repeat++) {
        const again = await runOnce(input, true);
        if (typeof again !== "number") return again;
        shortest = Math.min(shortest, again);
      }
      if (shortest <= STALL_MS) return undefined;
      return { kind: "stall", message: `${shortest.toFixed(0)} ms of processor in one turn of the event loop` };
    },
    get slowestMs() {
      return slowestMs;
    },
    stop: () => turns.stop(),
  };
}

async function endsInTime(running: Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), ANSWER_MS);
  });
  try {
    return await Promise.race([running.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Tells of an error by its words and by where it was thrown. */
export function describe(error: unknown): Verdict {
  const kind = error instanceof BrokenPromise ? "broken" : "crash";
  const text = error instanceof Error ? (error.stack ?? String(error)) : String(error);
  return { kind, message: text.split("\n").slice(0, 12).join("\n") };
}
