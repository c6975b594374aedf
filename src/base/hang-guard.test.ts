import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { createHangGuard } from "./hang-guard.ts";

function createRig(maxHung = 2) {
  const clock = createFakeClock({ now: 0 });
  const guard = createHangGuard({ clock, maxHung });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  /** Starts a work that ends on request. */
  const run = (name: string, { key = name, timeoutMs = 1_000 } = {}) => {
    let outcome = "pending";
    const work = async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    };
    guard.run(key, timeoutMs, work).then(
      (value) => {
        outcome = value;
      },
      (error: Error & { code?: string }) => {
        outcome = `${error.code}: ${error.message}`;
      },
    );
    return () => outcome;
  };
  const end = async (name: string) => {
    ends.get(name)?.();
    await clock.settle();
  };
  return { clock, guard, started, run, end };
}

describe("hang guard", () => {
  it("hands through what ends in time, and leaves no timer", async () => {
    const { clock, run, end } = createRig();
    const outcome = run("a");
    await clock.advance(999);
    await end("a");
    expect(outcome()).toBe("a");
    expect(clock.pendingTimers).toBe(0);
  });

  it("hands through failures, thrown ones too", async () => {
    const { guard } = createRig();
    const failing = guard.run("a", 1_000, async () => Promise.reject(new Error("no")));
    await expect(failing).rejects.toThrow("no");
    const throwing = guard.run("a", 1_000, () => {
      throw new Error("at once");
    });
    await expect(throwing).rejects.toThrow("at once");
    expect(await guard.run("a", 1_000, async () => 1)).toBe(1);
  });

  it("gives up after the time, and refuses the key until the work has really ended", async () => {
    const { clock, guard, run, end, started } = createRig();
    const first = run("first", { key: "nfs" });
    await clock.advance(1_000);
    expect(first()).toBe("ETIMEDOUT: nfs has not answered within 1000 ms");
    expect(guard.overdue).toBe(1);
    await clock.advance(4_000);
    const second = run("second", { key: "nfs" });
    await clock.settle();
    expect(second()).toBe("ETIMEDOUT: still waiting for nfs, which has not answered for 5 s");
    await end("first");
    expect([guard.overdue, started]).toEqual([0, ["first"]]);
    const third = run("third", { key: "nfs" });
    await end("third");
    expect(third()).toBe("third");
  });

  it("runs one work of a key at a time, in order, and counts the time from the call", async () => {
    const { clock, run, end, started } = createRig();
    const first = run("first", { key: "nfs" });
    const second = run("second", { key: "nfs", timeoutMs: 1_500 });
    const hasty = run("hasty", { key: "nfs", timeoutMs: 100 });
    await clock.advance(900);
    expect(hasty()).toBe("ETIMEDOUT: nfs has not answered within 100 ms");
    await end("first");
    expect([first(), started]).toEqual(["first", ["first", "second"]]);
    await clock.advance(600);
    expect(second()).toBe("ETIMEDOUT: nfs has not answered within 1500 ms");
  });

  it("refuses those that wait for a work when it is overdue", async () => {
    const { clock, run, started } = createRig();
    run("first", { key: "nfs" });
    const second = run("second", { key: "nfs", timeoutMs: 60_000 });
    await clock.advance(1_000);
    expect(second()).toMatch(/^ETIMEDOUT: still waiting for nfs/);
    expect([started, clock.pendingTimers]).toEqual([["first"], 0]);
  });

  it("never lets more works hang than it may, and says what hangs", async () => {
    const { clock, run, end, started, guard } = createRig(2);
    const outcomes = ["a", "b", "c"].map((name) => run(name, { timeoutMs: name === "c" ? 5_000 : 1_000 }));
    await clock.settle();
    expect(started).toEqual(["a", "b"]);
    await clock.advance(1_000);
    expect(guard.overdue).toBe(2);
    expect(outcomes[2]?.()).toBe("EBUSY: not asking c: 2 others have not answered in time: a, b");
    expect(run("d")()).toBe("pending");
    await clock.settle();
    expect(started).toEqual(["a", "b"]);
    await end("b");
    const late = run("e");
    await end("e");
    expect([late(), guard.overdue, clock.pendingTimers]).toEqual(["e", 1, 0]);
  });

  it("lets others wait while one may still answer", async () => {
    const { clock, run, end } = createRig(2);
    run("a");
    const quick = run("b", { timeoutMs: 60_000 });
    await clock.advance(1_000);
    const waiting = run("c", { timeoutMs: 60_000 });
    await clock.settle();
    expect(waiting()).toBe("pending");
    await end("b");
    await end("c");
    expect([quick(), waiting()]).toEqual(["b", "c"]);
  });

  it("refuses a line without end", async () => {
    const { run, clock } = createRig(1);
    run("running", { key: "key" });
    for (let index = 0; index < 1_000; index++) run(`waiting-${index}`, { key: "key" });
    const refused = run("refused", { key: "other" });
    await clock.settle();
    expect(refused()).toBe("EBUSY: not asking other: 1000 others wait");
  });
});
