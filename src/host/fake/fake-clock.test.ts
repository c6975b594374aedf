import { describe, expect, it } from "vitest";
import { sleep } from "../../base/abort.ts";
import { createFakeClock } from "./fake-clock.ts";

describe("fake clock", () => {
  it("fires timers in order of time, then of creation, each at its own time", async () => {
    const clock = createFakeClock({ now: 1_000 });
    const fired: string[] = [];
    const set = (name: string, ms: number) => clock.setTimer(ms, () => fired.push(`${name}@${clock.now()}`));
    set("late", 30);
    set("first", 10);
    set("second", 10);
    set("negative", -5);
    await clock.advance(29);
    expect(fired).toEqual(["negative@1000", "first@1010", "second@1010"]);
    expect(clock.untilNextTimer()).toBe(1);
    await clock.advance(1);
    expect(fired.at(-1)).toBe("late@1030");
    expect(clock.pendingTimers).toBe(0);
  });

  it("lets what hangs on one timer settle before the next fires, timers that it sets included", async () => {
    const clock = createFakeClock({ now: 0 });
    const seen: string[] = [];
    const task = async () => {
      for (let step = 0; step < 3; step++) {
        await sleep(clock, 10);
        await Promise.resolve();
        seen.push(`step@${clock.now()}`);
      }
    };
    const done = task();
    clock.setTimer(20, () => seen.push("timer@20"));
    await clock.advance(30);
    await done;
    expect(seen).toEqual(["step@10", "timer@20", "step@20", "step@30"]);
  });

  it("does not fire a cancelled timer, also when another timer of the same time cancels it", async () => {
    const clock = createFakeClock();
    const fired: string[] = [];
    clock.setTimer(5, () => second.cancel());
    const second = clock.setTimer(5, () => fired.push("second"));
    clock.setTimer(5, () => fired.push("third"));
    await clock.advance(5);
    second.cancel();
    expect(fired).toEqual(["third"]);
  });

  it("jumps the wall clock without letting time pass", async () => {
    const clock = createFakeClock({ now: 0 });
    let fired = false;
    clock.setTimer(1, () => {
      fired = true;
    });
    clock.jumpWallClock(-60_000);
    await clock.settle();
    expect([clock.now(), clock.monotonic(), fired]).toEqual([-60_000, 0, false]);
  });
});
