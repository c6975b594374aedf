import { createSeededRandom } from "../../src/base/random.ts";
import { createDice } from "../sim/dice.ts";
import { createCoverage } from "./coverage.ts";
import { createJudge, type Judge, type Verdict } from "./judge.ts";
import { hasGrown, type MemoryResult, measureMemory } from "./memory.ts";
import { createMutator } from "./mutate.ts";
import { createPool } from "./pool.ts";
import { shrink } from "./shrink.ts";
import { DEFAULT_BATCH, DEFAULT_MAX_BYTES, type RunningTarget, type Target } from "./target.ts";

interface FuzzOptions {
  readonly seed: number;
  /** Milliseconds for fresh inputs and for the look at memory; the corpus always runs whole. */
  readonly forMs: number;
  /** So many fresh inputs, in whole batches, however long they take. Default: as many as there is time for. */
  readonly runs?: number | undefined;
  readonly corpus: readonly Buffer[];
}

interface FuzzEvents {
  /** Called before each input, so that one that ends the process is known. */
  begins(input: Buffer): void;
  found(verdict: Verdict, input: Buffer): void;
  /** Called when the event loop has turned. */
  alive(): void;
}

export interface FuzzResult {
  readonly runs: number;
  readonly corpus: number;
  /** Fresh inputs that reached something new. */
  readonly reached: readonly Buffer[];
  readonly functions: number;
  readonly slowestMs: number;
  readonly memory: MemoryResult;
}

/** Beyond so many different findings the rest waits until those are mended. */
const MAX_FINDINGS = 8;
const MEMORY_SHARE = 0.15;
const MEMORY_INPUTS = 200;
const MEMORY_INPUT_BYTES = 64 * 1024;

/** Runs the corpus, then inputs made of it until the time is over, then looks whether memory has come back. */
export async function fuzzTarget(target: Target, options: FuzzOptions, events: FuzzEvents): Promise<FuzzResult> {
  const running = await target.setUp();
  const judge = createJudge(running);
  try {
    return await fuzz({ target, running, judge, options, events });
  } finally {
    judge.stop();
    await running.close?.();
  }
}

interface Fuzzing {
  readonly target: Target;
  readonly running: RunningTarget;
  readonly judge: Judge;
  readonly options: FuzzOptions;
  readonly events: FuzzEvents;
}

async function fuzz(fuzzing: Fuzzing): Promise<FuzzResult> {
  const { target, running, judge, options, events } = fuzzing;
  const first = [...target.seeds.map((seed) => Buffer.from(seed)), ...options.corpus];
  const recorder = createRecorder(fuzzing);
  for (const input of first) await recorder.run(input);
  const { runs, pool, functions } = await explore(fuzzing, first, recorder);
  const endsAt = performance.now() + options.forMs * MEMORY_SHARE;
  const inputs = pool.filter(({ length }) => length <= MEMORY_INPUT_BYTES).slice(-MEMORY_INPUTS);
  const isFine = recorder.count === 0;
  const memory = isFine ? await measureMemory(running, inputs, endsAt) : { before: 0, after: 0 };
  if (isFine && hasGrown(memory)) {
    const megabytes = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
    const message = `${megabytes(memory.before)} were in use before, ${megabytes(memory.after)} after the same inputs again`;
    events.found({ kind: "memory", message }, Buffer.alloc(0));
  }
  return {
    ...{ runs, corpus: first.length, reached: pool.slice(first.length), functions },
    ...{ slowestMs: judge.slowestMs, memory },
  };
}

interface Recorder {
  /** False when the input did what it may not. */
  run(input: Buffer): Promise<boolean>;
  /** Different findings so far. */
  readonly count: number;
}

/** Tells of each finding once, by the place where it happened, with as short an input as can be had. */
function createRecorder({ judge, events }: Fuzzing): Recorder {
  const told = new Set<string>();
  return {
    async run(input) {
      events.begins(input);
      const verdict = await judge.judge(input);
      // A rejection that nobody handles shows when the event loop turns: before another input is under way.
      await new Promise((resolve) => setImmediate(resolve));
      if (verdict === undefined) return true;
      const place = placeOf(verdict);
      if (told.has(place)) return false;
      told.add(place);
      const isSame = async (candidate: Buffer) => {
        events.begins(candidate);
        events.alive();
        const again = await judge.judge(candidate);
        return again !== undefined && placeOf(again) === place;
      };
      events.found(verdict, verdict.kind === "hang" ? input : await shrink(input, isSame));
      return false;
    },
    get count() {
      return told.size;
    },
  };
}

/** The first line of a stack that is not a library's; a promise is known by its words. */
function placeOf({ kind, message }: Verdict): string {
  const lines = message.split("\n");
  const place = kind === "broken" ? lines[0]?.slice(0, 30) : lines.find((line) => line.includes("/src/"));
  return `${kind} ${place ?? ""}`;
}

async function explore(
  { target, options, events }: Fuzzing,
  first: readonly Buffer[],
  recorder: Recorder,
): Promise<{ runs: number; pool: readonly Buffer[]; functions: number }> {
  const { words = [], maxBytes = DEFAULT_MAX_BYTES, batch: batchSize = DEFAULT_BATCH } = target;
  const random = createSeededRandom(options.seed);
  const pool = createPool(createDice(random), first);
  const mutator = createMutator(random, { words: words.map((word) => Buffer.from(word)), maxBytes });
  const coverage = createCoverage();
  const endsAt = performance.now() + options.forMs * (1 - MEMORY_SHARE);
  const runAll = async (inputs: readonly Buffer[]) => {
    for (const input of inputs) await recorder.run(input);
    events.alive();
    return coverage.take();
  };
  /** Which of the inputs are worth keeping; halved until each that reaches something new stands alone. */
  const keepNew = async (inputs: readonly Buffer[]): Promise<void> => {
    const snapshot = await runAll(inputs);
    if (!coverage.isNew(snapshot)) return;
    const [only] = inputs;
    if (inputs.length === 1 && only !== undefined) {
      coverage.learn(snapshot);
      pool.add(only);
      return;
    }
    const middle = Math.ceil(inputs.length / 2);
    await keepNew(inputs.slice(0, middle));
    await keepNew(inputs.slice(middle));
    // What does not happen a second time is not waited for in each batch that follows.
    coverage.learn(snapshot);
  };

  coverage.learn(await runAll(first));
  let runs = 0;
  const isEnough = () => (options.runs === undefined ? performance.now() > endsAt : runs >= options.runs);
  const isOver = () => isEnough() || recorder.count >= MAX_FINDINGS;
  while (!isOver()) {
    const inputs = Array.from({ length: batchSize }, () => mutator.mutate(pool.choose(), pool.choose()));
    await keepNew(inputs);
    runs += inputs.length;
  }
  const { functionCount } = coverage;
  coverage.stop();
  return { runs, pool: pool.inputs, functions: functionCount };
}
