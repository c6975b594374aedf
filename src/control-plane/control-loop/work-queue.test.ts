import { describe, expect, test } from "vitest";
import { ApiError } from "../../api/api-error.ts";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { createWorkQueue, type WorkQueueOptions } from "./work-queue.ts";

function setUp(reconcile: WorkQueueOptions["reconcile"], workers = 1) {
  const clock = createFakeClock();
  const queue = createWorkQueue({ clock, log: silentLog }, { name: "test", workers, reconcile });
  const abort = new AbortController();
  return { clock, queue, abort, run: () => queue.run(abort.signal) };
}

const unavailable = () => new ApiError("ServiceUnavailable", "not now");

describe("a work queue", () => {
  test("reconciles a key once however often it is added before", async () => {
    const seen: string[] = [];
    const { queue, run, abort, clock } = setUp(async (key) => void seen.push(key));
    for (const key of ["a", "b", "a", "a"]) queue.add(key);
    const done = run();
    await clock.settle();
    expect(seen).toEqual(["a", "b"]);
    abort.abort();
    await done;
  });

  test("does not call out before the adder has returned", async () => {
    let called = false;
    const { queue, run, abort, clock } = setUp(async () => {
      called = true;
    });
    const done = run();
    queue.add("a");
    expect(called).toBe(false);
    await Promise.resolve();
    expect(called).toBe(true);
    await clock.settle();
    abort.abort();
    await done;
  });

  test("runs a key again that was added while it ran, and never twice at a time", async () => {
    let running = 0;
    let most = 0;
    let runs = 0;
    const { queue, run, abort, clock } = setUp(async () => {
      most = Math.max(most, ++running);
      if (++runs === 1) queue.add("a");
      await Promise.resolve();
      running--;
    }, 4);
    const done = run();
    queue.add("a");
    await clock.settle();
    expect({ runs, most }).toEqual({ runs: 2, most: 1 });
    abort.abort();
    await done;
  });

  test("tries again after a failed call, each time twice as late, and starts over after a success", async () => {
    const times: number[] = [];
    let fails = 3;
    const { queue, run, abort, clock } = setUp(async () => {
      times.push(clock.monotonic());
      if (fails-- > 0) throw unavailable();
    });
    const done = run();
    queue.add("a");
    await clock.advance(1_000);
    expect(times).toEqual([0, 10, 30, 70]);
    expect(clock.pendingTimers).toBe(0);
    fails = 1;
    queue.add("a");
    await clock.advance(1_000);
    expect(times.slice(4)).toEqual([1_000, 1_010]);
    abort.abort();
    await done;
  });

  test("looks again when the work asked for it, or earlier when something happened", async () => {
    const times: number[] = [];
    const { queue, run, abort, clock } = setUp(async () => {
      times.push(clock.monotonic());
      return times.length < 3 ? 500 : undefined;
    });
    const done = run();
    queue.add("a");
    await clock.advance(100);
    queue.add("a");
    await clock.advance(2_000);
    expect(times).toEqual([0, 100, 600]);
    expect(clock.pendingTimers).toBe(0);
    abort.abort();
    await done;
  });

  test("returns only when the running work has ended, and leaves no timer", async () => {
    let finish = () => {};
    const { queue, run, abort, clock } = setUp(async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return undefined;
    });
    let returned = false;
    const done = run().then(() => {
      returned = true;
    });
    queue.add("a");
    queue.addAfter("b", 1_000);
    await clock.settle();
    abort.abort();
    await clock.settle();
    expect(returned).toBe(false);
    expect(clock.pendingTimers).toBe(0);
    finish();
    await done;
    queue.add("c");
    expect(queue.size).toBe(0);
  });

  test("goes down with an error that is no failed call", async () => {
    const { queue, run } = setUp(async () => {
      throw new TypeError("a mistake of ours");
    });
    queue.add("a");
    await expect(run()).rejects.toThrow("a mistake of ours");
  });
});
