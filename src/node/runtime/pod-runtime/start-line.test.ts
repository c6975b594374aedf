import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { createStartLine, MAX_PARALLEL_STARTS, START_TURN_MS } from "./start-line.ts";

function createScene() {
  const { clock } = createFakeHost();
  const line = createStartLine(clock);
  const begun: number[] = [];
  const ends: Array<{ resolve: (value: string) => void; reject: (error: Error) => void }> = [];
  const stand = (number: number, signal = new AbortController().signal) =>
    line.run(async () => {
      begun.push(number);
      return await new Promise<string>((resolve, reject) => ends.push({ resolve, reject }));
    }, signal);
  /** Two more pods than may start at once. */
  const all = Array.from({ length: MAX_PARALLEL_STARTS + 2 }, (_, number) => number);
  return { clock, begun, ends, stand, all, first: all.slice(0, MAX_PARALLEL_STARTS) };
}

const turnOver = async () => await new Promise((resolve) => setImmediate(resolve));

describe("createStartLine", () => {
  it("starts a bounded number of pods at once, and the next when one is done, in order", async () => {
    const { begun, ends, stand, all, first } = createScene();
    const results = all.map(async (number) => await stand(number));
    await turnOver();
    expect(begun).toEqual(first);
    ends[0]?.resolve("started");
    expect(await results[0]).toBe("started");
    await turnOver();
    expect(begun).toEqual(all.slice(0, -1));
  });

  it("passes the turn on when a start fails, and gives its error to whoever asked", async () => {
    const { begun, ends, stand, all } = createScene();
    const results = all.map(async (number) => await stand(number).catch((error: Error) => error.message));
    await turnOver();
    ends[0]?.reject(new Error("no network"));
    expect(await results[0]).toBe("no network");
    await turnOver();
    expect(begun).toEqual(all.slice(0, -1));
  });

  it("does not let starts that hang hold up the others, and still gives their results", async () => {
    const { clock, begun, ends, stand, all, first } = createScene();
    const results = all.map(async (number) => await stand(number));
    await turnOver();
    await clock.advance(START_TURN_MS - 1);
    expect(begun).toEqual(first);
    await clock.advance(1);
    expect(begun).toEqual(all);
    ends[3]?.resolve("late");
    expect(await results[3]).toBe("late");
  });

  it("lets one who waits leave without starting", async () => {
    const { begun, ends, stand, all, first } = createScene();
    for (const number of first) void stand(number);
    const controller = new AbortController();
    const waiting = stand(99, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    void stand(all.length);
    ends[0]?.resolve("");
    await turnOver();
    expect(begun).toEqual([...first, all.length]);
  });
});
