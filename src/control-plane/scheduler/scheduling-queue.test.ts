import { describe, expect, test } from "vitest";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { ClusterChange } from "./filters/filter.ts";
import { createSchedulingQueue } from "./scheduling-queue.ts";

function setUp() {
  const clock = createFakeClock();
  let ready = 0;
  const queue = createSchedulingQueue(clock, () => {
    ready += 1;
  });
  const put = (key: string, { priority = 0, createdAt = 0, version = "1" } = {}) => {
    queue.put({ key, priority, createdAt, version });
  };
  const drain = () => {
    const keys: string[] = [];
    for (let key = queue.next(); key !== undefined; key = queue.next()) keys.push(key);
    return keys;
  };
  /** Takes the next pod and parks it until one of these changes. */
  const park = (...changes: ClusterChange[]) => {
    for (const key of drain()) queue.park(key, new Set(changes));
  };
  return { clock, queue, put, drain, park, readiness: () => ready };
}

describe("pods are tried", () => {
  test("by importance, then age, then arrival", () => {
    const { put, drain } = setUp();
    put("young", { createdAt: 2 });
    put("second", { createdAt: 1 });
    put("important", { priority: 10, createdAt: 3 });
    put("third", { createdAt: 1 });
    expect(drain()).toEqual(["important", "second", "third", "young"]);
  });

  test("at once when they are new or changed, and not again when they did not", () => {
    const { put, drain, park, readiness } = setUp();
    put("a");
    park("node");
    put("a");
    expect(drain()).toEqual([]);
    put("a", { version: "2" });
    expect(drain()).toEqual(["a"]);
    expect(readiness()).toBe(2);
  });

  test("not when they are gone", async () => {
    const { clock, queue, put, drain, park } = setUp();
    put("active");
    queue.remove("active");
    put("waiting");
    park("node");
    queue.remove("waiting");
    await clock.advance(600_000);
    queue.wake(["node"]);
    expect(drain()).toEqual([]);
    expect(queue.size).toBe(0);
  });
});

describe("a pod that was turned down", () => {
  test("waits for what may help, and is tried at once then", async () => {
    const { clock, queue, put, drain, park } = setUp();
    put("a");
    park("node", "storage");
    await clock.advance(5);
    queue.wake(["pod-gone"]);
    expect(drain()).toEqual([]);
    queue.wake(["pod-gone", "storage"]);
    expect(drain()).toEqual(["a"]);
  });

  test("is tried every five minutes, whatever happens", async () => {
    const { clock, put, drain, park } = setUp();
    put("a");
    park();
    await clock.advance(299_999);
    expect(drain()).toEqual([]);
    await clock.advance(1);
    expect(drain()).toEqual(["a"]);
  });

  test("is one of many: each is tried once a second at most, while changes come without end", async () => {
    const { clock, queue, put, drain, park } = setUp();
    for (let index = 0; index < 2_000; index++) put(`p${index}`);
    park("node");
    let tries = 0;
    for (let ms = 0; ms < 10_000; ms += 10) {
      await clock.advance(10);
      queue.wake(["node"]);
      const due = drain();
      tries += due.length;
      for (const key of due) queue.park(key, new Set(["node"] as const));
    }
    expect(tries).toBeGreaterThan(5 * 2_000 - 1);
    expect(tries).toBeLessThanOrEqual(10_000);
    expect(clock.pendingTimers).toBe(1);
  });
});

describe("a pod with which something went wrong", () => {
  test("is tried again after one second, two, four, … ten, whatever changes", async () => {
    const { clock, queue, put, drain } = setUp();
    put("a");
    for (const seconds of [1, 2, 4, 8, 10, 10]) {
      expect(drain()).toEqual(["a"]);
      queue.delay("a");
      await clock.advance(seconds * 1_000 - 1);
      queue.wake(["node", "pod-gone"]);
      expect(drain()).toEqual([]);
      await clock.advance(1);
    }
    expect(drain()).toEqual(["a"]);
  });

  test("is left alone when it came anew meanwhile", () => {
    const { queue, put, drain } = setUp();
    put("a");
    drain();
    put("a", { version: "2" });
    queue.delay("a");
    queue.finish("a");
    expect(drain()).toEqual(["a"]);
    queue.finish("a");
    expect(queue.size).toBe(0);
  });
});

test("a queue that was stopped has no timer", () => {
  const { clock, queue, put, park } = setUp();
  put("a");
  park("node");
  expect(clock.pendingTimers).toBe(1);
  queue.stop();
  queue.wake(["node"]);
  expect(clock.pendingTimers).toBe(0);
});
