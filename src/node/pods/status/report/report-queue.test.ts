import { describe, expect, it } from "vitest";
import { createReportQueue } from "./report-queue.ts";

/** A queue whose tasks send when the test says so. */
function setUp() {
  const sent: string[] = [];
  const gates: Array<() => void> = [];
  const failing = new Set<string>();
  let atOnce = 0;
  const queue = createReportQueue(async ({ uid, take }) => {
    expect(++atOnce).toBeLessThanOrEqual(2);
    try {
      while (take()) {
        await new Promise<void>((resolve) => gates.push(resolve));
        sent.push(uid);
        if (failing.has(uid)) queue.add(uid);
        if (failing.delete(uid)) throw new Error("no");
      }
    } finally {
      atOnce--;
    }
  });
  const stop = new AbortController();
  const answer = async () => {
    gates.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  const serve = async () => {
    await queue.serve(stop.signal, async (signal) => {
      queue.startDue();
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    });
  };
  return { queue, sent, gates, failing, stop, answer, serve };
}

describe("the queue of reports", () => {
  it("starts nothing before it is served, then everything that is due", async () => {
    const { queue, sent, gates, stop, answer, serve } = setUp();
    queue.add("a");
    queue.add("b");
    queue.remove("b");
    expect([queue.uids(), gates.length]).toEqual([["a"], 0]);
    const served = serve();
    expect(queue.uids()).toEqual([]);
    await answer();
    expect(sent).toEqual(["a"]);
    stop.abort();
    await served;
    expect(queue.isServed).toBe(false);
  });

  it("has one task for a pod, which sends once more for all that came meanwhile", async () => {
    const { queue, sent, gates, answer, serve, stop } = setUp();
    const served = serve();
    for (const uid of ["a", "a", "b", "a"]) queue.add(uid);
    expect(gates).toHaveLength(2);
    expect(queue.isDue("a")).toBe(true);
    await answer();
    await answer();
    await answer();
    expect(sent).toEqual(["a", "b", "a"]);
    expect(gates).toHaveLength(0);
    stop.abort();
    await served;
  });

  it("does not send what is taken back while its task is at work", async () => {
    const { queue, sent, answer, serve, stop } = setUp();
    const served = serve();
    queue.add("a");
    queue.add("a");
    queue.remove("a");
    await answer();
    expect(sent).toEqual(["a"]);
    stop.abort();
    await served;
  });

  it("is idle when no task runs, whether or not something is due", async () => {
    const { queue, answer, serve, stop, sent } = setUp();
    queue.add("a");
    await queue.untilIdle(stop.signal);
    const served = serve();
    let isIdle = false;
    const idle = queue.untilIdle(stop.signal).then(() => {
      isIdle = true;
    });
    await Promise.resolve();
    expect(isIdle).toBe(false);
    await answer();
    await idle;
    expect(sent).toEqual(["a"]);
    stop.abort();
    await served;
  });

  it("goes down with a task that fails, and keeps what was not sent", async () => {
    const { queue, failing, answer, serve } = setUp();
    failing.add("a");
    const served = serve().catch((error: unknown) => error);
    queue.add("a");
    await answer();
    expect(await served).toMatchObject({ message: "no" });
    expect(queue.uids()).toEqual(["a"]);
  });
});
