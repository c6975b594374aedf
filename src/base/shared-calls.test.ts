import { describe, expect, it } from "vitest";
import { AbortedError, untilAborted } from "./abort.ts";
import { createSharedCalls } from "./shared-calls.ts";

interface Call {
  readonly signal: AbortSignal;
  resolve(value: string): void;
  reject(error: Error): void;
}

function createCalls() {
  const shared = createSharedCalls<string>();
  const started: Call[] = [];
  const join = async (key = "a", signal = new AbortController().signal) =>
    shared.join(key, signal, async (callSignal) => {
      const answer = new Promise<string>((resolve, reject) => {
        started.push({ signal: callSignal, resolve, reject });
      });
      return await untilAborted(answer, callSignal);
    });
  return { join, started };
}

describe("shared calls", () => {
  it("gives all who ask for a key meanwhile the one outcome", async () => {
    const { join, started } = createCalls();
    const [first, second, other] = [join(), join(), join("b")];
    expect(started).toHaveLength(2);
    started[0]?.resolve("one");
    started[1]?.resolve("two");
    expect(await Promise.all([first, second, other])).toEqual(["one", "one", "two"]);
  });

  it.each<[string, (call: Call | undefined) => void]>([
    ["an answer", (call) => call?.resolve("x")],
    ["a failure", (call) => call?.reject(new Error("x"))],
  ])("calls anew after %s", async (_what, settle) => {
    const { join, started } = createCalls();
    const waiting = Promise.allSettled([join(), join()]);
    settle(started[0]);
    await waiting;
    const again = join();
    expect(started).toHaveLength(2);
    started[1]?.resolve("anew");
    expect(await again).toBe("anew");
  });

  it("goes on for the others when one leaves", async () => {
    const { join, started } = createCalls();
    const leaving = new AbortController();
    const [first, second] = [join("a", leaving.signal), join()];
    leaving.abort();
    await expect(first).rejects.toThrow(AbortedError);
    const third = join();
    expect(started).toHaveLength(1);
    started[0]?.resolve("x");
    expect(await Promise.all([second, third])).toEqual(["x", "x"]);
  });

  it("ends when the last has left, and is no more joined", async () => {
    const { join, started } = createCalls();
    const leaving = new AbortController();
    const first = join("a", leaving.signal);
    leaving.abort();
    await expect(first).rejects.toThrow(AbortedError);
    expect(started[0]?.signal.aborted).toBe(true);
    const next = join();
    started[1]?.resolve("x");
    expect(await next).toBe("x");
  });

  it("does not begin for one who has left already", async () => {
    const { join, started } = createCalls();
    await expect(join("a", AbortSignal.abort())).rejects.toThrow(AbortedError);
    expect(started).toEqual([]);
  });
});
