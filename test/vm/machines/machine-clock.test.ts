import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createMachineClock, within } from "./machine-clock.ts";

const PID = 7;
const NS_PER_MS = 1_000_000;

describe("createMachineClock", () => {
  let proc: string;
  let now: number;
  beforeEach(async () => {
    proc = await mkdtemp(join(tmpdir(), "nodelet-proc-"));
    now = 10_000;
  });
  afterEach(async () => await rm(proc, { recursive: true, force: true }));

  const createClock = () => createMachineClock(PID, { proc, now: () => now });
  const writeWaited = async (thread: number, waitedMs: number) => {
    const task = join(proc, `${PID}/task/${thread}`);
    await mkdir(task, { recursive: true });
    await writeFile(join(task, "schedstat"), `123456 ${waitedMs * NS_PER_MS} 42\n`);
  };

  it("stands while the emulated processor waits for a real one", async () => {
    await writeWaited(PID, 5);
    await writeWaited(PID + 1, 3_000);
    const clock = createClock();
    const before = clock();
    now += 600;
    await writeWaited(PID + 1, 3_400);
    expect(clock() - before).toBe(200);
  });

  it("does not jump when the process ends", async () => {
    await writeWaited(PID, 3_000);
    const clock = createClock();
    const before = clock();
    await rm(join(proc, `${PID}`), { recursive: true });
    expect(clock()).toBe(before);
  });

  it("is everybody's time where the kernel tells nothing of waiting", () => {
    const clock = createClock();
    const before = clock();
    now += 600;
    expect(clock() - before).toBe(600);
  });
});

describe("within", () => {
  /** A clock that shows these readings, and stands at the last. */
  const clockOf = (...readings: number[]) => {
    let last = 0;
    return () => {
      last = readings.shift() ?? last;
      return last;
    };
  };

  it("rejects when the limit has passed by the clock", async () => {
    await expect(within(clockOf(0, 99, 100), 100, new Promise(() => undefined), "too late")).rejects.toThrow(
      "too late",
    );
  });

  it("waits on while the clock stands", async () => {
    let looks = 0;
    let answer: (text: string) => void = () => undefined;
    const clock = () => {
      if (looks++ === 3) answer("answer");
      return 0;
    };
    const asked = new Promise<string>((resolve) => {
      answer = resolve;
    });
    await expect(within(clock, 1, asked, "too late")).resolves.toBe("answer");
  });
});
