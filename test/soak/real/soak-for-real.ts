import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { createSeededRandom } from "../../../src/base/random.ts";
import { reportGrowth } from "../report-growth.ts";
import { createChurn } from "./churn.ts";
import { createMeter } from "./measure.ts";
import { startSoakedNode } from "./soaked-node.ts";
import { createTrouble } from "./trouble.ts";

interface RealSoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** What is lowered is every process's of this machine. */
  readonly lowersMachineLimits: boolean;
}

const SAMPLE_MS = 5_000;
/** Kills come in the first part only, so that the processes of the second half are old ones. */
const KILLING_SHARE = 0.4;

/** Runs a node of its own for so long, and returns the names of what grows. */
export async function soakForReal({ minutes, seed, lowersMachineLimits }: RealSoakOptions): Promise<readonly string[]> {
  const node = await startSoakedNode();
  const ending = new AbortController();
  setMaxListeners(0, ending.signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  const begin = performance.now();
  const durationMs = minutes * 60_000;
  const churn = createChurn(node, createSeededRandom(seed));
  const trouble = createTrouble(node, createSeededRandom(seed + 1), {
    killsUntil: begin + KILLING_SHARE * durationMs,
    lowersMachineLimits,
  });
  const meter = createMeter(node);
  const measure = async () => {
    while (!ending.signal.aborted) {
      await meter.sample((performance.now() - begin) / 1000);
      await delay(SAMPLE_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  };
  const clock = setTimeout(() => ending.abort(), durationMs);
  const guarded = async (work: Promise<void>) => {
    try {
      await work;
    } finally {
      ending.abort();
    }
  };
  try {
    await Promise.all([churn.run(ending.signal), trouble.run(ending.signal), measure()].map(guarded));
    const told = (counts: ReadonlyMap<string, number>) =>
      [...counts].map(([kind, count]) => `${kind} ${count}`).join(", ");
    console.log(
      `${((performance.now() - begin) / 60_000).toFixed(1)} min: ${told(churn.counts)}; ${told(trouble.counts)}`,
    );
    return reportGrowth(meter.series);
  } finally {
    clearTimeout(clock);
    node.api.close();
    await node.destroy();
  }
}
