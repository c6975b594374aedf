import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { RunningTarget } from "./target.ts";

/** Bytes of the heap and of buffers before the inputs were repeated and after it. */
export interface MemoryResult {
  readonly before: number;
  readonly after: number;
}

const GROWTH_FACTOR = 1.1;
/** A heap of few megabytes breathes by more than a tenth. */
const SLACK_BYTES = 2 * 1024 * 1024;
const WARM_UP_ROUNDS = 2;
/** Growth that ends is a cache that fills; what still grows after so many series is lost. */
const SERIES = 3;
const MIN_RUNS = 400;

/**
 * Repeats the inputs, for at least two rounds and until `endsAt`, and compares what is left when all is at rest; `readRest`
 * tells that, by default of this process.
 */
export async function measureMemory(
  target: RunningTarget,
  inputs: readonly Buffer[],
  endsAt: number,
  readRest: (target: RunningTarget) => Promise<number> = readRestOfProcess,
): Promise<MemoryResult> {
  for (let round = 0; round < WARM_UP_ROUNDS; round++) await repeat(target, inputs);
  const before = await readRest(target);
  let after = before;
  for (let series = 0; series < SERIES; series++) {
    const rounds = Math.max(1, Math.ceil(MIN_RUNS / inputs.length));
    for (let round = 0; round < rounds && (round < 2 || performance.now() < endsAt); round++) {
      await repeat(target, inputs);
    }
    after = await readRest(target);
    if (!hasGrown({ before, after })) break;
  }
  return { before, after };
}

/** More is left than was there before, by more than a tenth. */
export function hasGrown({ before, after }: MemoryResult): boolean {
  return after > before * GROWTH_FACTOR + SLACK_BYTES;
}

async function repeat(target: RunningTarget, inputs: readonly Buffer[]): Promise<void> {
  for (const input of inputs) await target.run(input);
}

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

async function readRestOfProcess(target: RunningTarget): Promise<number> {
  await target.settle?.();
  for (let turn = 0; turn < 4; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
