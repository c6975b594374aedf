import { afterEach, expect, it } from "vitest";
import { createJudge } from "./judge.ts";
import { hasGrown, measureMemory } from "./memory.ts";
import { BrokenPromise, type RunningTarget } from "./target.ts";
import { readThreadMs } from "./thread-time.ts";

const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function judge(run: RunningTarget["run"]) {
  const judge = createJudge({ run });
  closers.push(judge.stop);
  return await judge.judge(Buffer.from("input"));
}

const computeFor = (ms: number) => {
  const endsAt = readThreadMs() + ms;
  while (readThreadMs() < endsAt);
};
const pause = async (ms: number) => await new Promise<void>((resolve) => setTimeout(resolve, ms));

it.each<[string, RunningTarget["run"], string | undefined]>([
  ["throws", () => JSON.parse("{"), "crash"],
  ["rejects", async () => await Promise.reject(new Error("no")), "crash"],
  ["breaks a promise", () => Promise.reject(new BrokenPromise("it differs")), "broken"],
  ["computes for a quarter of a second", () => computeFor(250), "stall"],
  [
    "computes for as long after a turn of the event loop",
    async () => await pause(1).then(() => computeFor(250)),
    "stall",
  ],
  [
    "computes for as long in slices",
    async () => {
      for (let slice = 0; slice < 25; slice++) await pause(1).then(() => computeFor(10));
    },
    undefined,
  ],
  ["sleeps", () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250), undefined],
  ["waits", async () => await pause(250), undefined],
])("what %s gets the verdict that it deserves", async (_what, run, expected) => {
  expect((await judge(run))?.kind).toBe(expected);
});

it.each([
  ["keeps something of each input", Number.POSITIVE_INFINITY, true],
  ["fills a cache", 100, false],
])("what %s has grown or not", async (_what, most, expected) => {
  let kept = 0;
  const run = () => void (kept < most && kept++);
  const inputs = Array.from({ length: 100 }, () => Buffer.from("input"));
  const readRest = async () => 10_000_000 + kept * 100_000;
  const endsAt = performance.now() + 60_000;
  expect(hasGrown(await measureMemory({ run }, inputs, endsAt, readRest))).toBe(expected);
});
