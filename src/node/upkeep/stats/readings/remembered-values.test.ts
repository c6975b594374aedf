import { beforeEach, describe, expect, it } from "vitest";
import { createLimiter } from "../../../../base/limiter.ts";
import { silentLog } from "../../../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../../../host/fake/fake-clock.ts";
import { createRememberedValues, type RememberedValues } from "./remembered-values.ts";

const MAX_AGE_MS = 10_000;

let clock: FakeClock;
let values: RememberedValues<number>;
let started: number;
/** The answers to the questions, in order. An undefined answer never comes, and only an abort ends its question. */
let answers: Array<{ readonly value?: number; readonly afterMs?: number; readonly fails?: true } | undefined>;

beforeEach(() => {
  clock = createFakeClock();
  values = createRememberedValues({ clock, log: silentLog, limiter: createLimiter(2) });
  started = 0;
  answers = [];
});

const find = async (signal: AbortSignal): Promise<number> => {
  const answer = answers[started++];
  return await new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(Object.assign(new Error("aborted"), { name: "AbortError" })));
    if (answer === undefined) return;
    clock.setTimer(answer.afterMs ?? 0, () => {
      if (answer.fails) reject(new Error("no such disk"));
      else resolve(answer.value ?? 0);
    });
  });
};
const read = async (key = "disk", forMs = 1_000) => {
  const reading = values.read(key, { maxAgeMs: MAX_AGE_MS, find });
  await clock.advance(forMs);
  return (await reading)?.value;
};
const running = async (work: () => Promise<void>) => {
  const controller = new AbortController();
  const run = values.run(controller.signal);
  await work();
  controller.abort();
  await clock.settle();
  await run;
};

describe("a value that takes long to find out", () => {
  it("is found out for who asks first, and remembered for the others", async () => {
    await running(async () => {
      answers = [{ value: 7, afterMs: 500 }];
      expect(await read()).toBe(7);
      expect(await read()).toBe(7);
      expect(started).toBe(1);
    });
  });

  it("is found out once for all who ask meanwhile", async () => {
    await running(async () => {
      answers = [{ value: 7, afterMs: 500 }];
      const readings = [read("disk", 0), read("disk", 0), read("disk", 500)];
      expect(await Promise.all(readings)).toEqual([7, 7, 7]);
      expect(started).toBe(1);
    });
  });

  it("is told as it was, and found out anew behind the back of who asks", async () => {
    await running(async () => {
      answers = [{ value: 7 }, { value: 8, afterMs: 5_000 }];
      await read();
      await clock.advance(MAX_AGE_MS);
      expect(await read("disk", 0)).toBe(7);
      await clock.advance(5_000);
      expect(await read("disk", 0)).toBe(8);
    });
  });

  it("is waited for a second, once, and told when it is there", async () => {
    await running(async () => {
      answers = [{ value: 7, afterMs: 20_000 }];
      expect(await read("disk", 1_000)).toBeUndefined();
      expect(await read("disk", 0)).toBeUndefined();
      await clock.advance(20_000);
      expect(await read("disk", 0)).toBe(7);
      expect(started).toBe(1);
    });
  });

  it("that hangs for ever is in nobody's way", async () => {
    await running(async () => {
      answers = [undefined, { value: 2 }];
      expect(await read("hung", 1_000)).toBeUndefined();
      expect(await read("well", 0)).toBe(2);
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it("that cannot be read any more is not told as it was", async () => {
    await running(async () => {
      answers = [{ value: 7 }, { fails: true }, { value: 9 }];
      await read();
      await clock.advance(MAX_AGE_MS);
      expect(await read("disk", 10)).toBe(7);
      expect(await read("disk", 10)).toBe(9);
    });
  });

  it("is found out by nobody before the node runs, and after it", async () => {
    expect(await read("disk", 0)).toBeUndefined();
    await running(async () => undefined);
    expect(await read("disk", 0)).toBeUndefined();
    expect(started).toBe(0);
  });

  it("is forgotten when nobody asks any more", async () => {
    await running(async () => {
      answers = [{ value: 1 }, { value: 2 }];
      await read("gone");
      await clock.advance(11 * MAX_AGE_MS);
      await read("here");
      expect(values.size).toBe(1);
    });
  });
});
