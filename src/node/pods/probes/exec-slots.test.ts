import { expect, it } from "vitest";
import { AbortedError } from "../../../base/abort.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createSlots } from "./exec-slots.ts";

const NEVER = new AbortController().signal;

function createRig() {
  const clock = createFakeClock();
  const slots = createSlots(clock, { limit: 2, holdMs: 2_000 });
  const begun: string[] = [];
  const task = (name: string, ms: number) => async () => {
    begun.push(name);
    await new Promise<void>((resolve) => void clock.setTimer(ms, resolve));
    return name;
  };
  return { clock, slots, begun, task };
}

it("at most so many begin side by side, and the next begin when those have ended", async () => {
  const { clock, slots, begun, task } = createRig();
  const all = ["a", "b", "c"].map((name) => slots(task(name, 100), NEVER));
  await clock.settle();
  expect(begun).toEqual(["a", "b"]);
  await clock.advance(100);
  expect(begun).toEqual(["a", "b", "c"]);
  await clock.advance(100);
  expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
  expect(clock.pendingTimers).toBe(0);
});

it("what hangs gives its slot away, and still has its result in the end", async () => {
  const { clock, slots, begun, task } = createRig();
  const hung = ["a", "b"].map((name) => slots(task(name, 60_000), NEVER));
  const next = slots(task("c", 10), NEVER);
  await clock.advance(1_999);
  expect(begun).toEqual(["a", "b"]);
  await clock.advance(11);
  expect(await next).toBe("c");
  await clock.advance(60_000);
  expect(await Promise.all(hung)).toEqual(["a", "b"]);
});

it("one that waits leaves with its signal, and a failure frees its slot", async () => {
  const { clock, slots, begun, task } = createRig();
  const failed = Array.from(
    { length: 2 },
    async () => await slots(async () => Promise.reject(new Error("broken")), NEVER),
  );
  for (const failure of failed) await expect(failure).rejects.toThrow("broken");
  void slots(task("a", 100), NEVER);
  void slots(task("b", 100), NEVER);
  const gone = new AbortController();
  const waiting = slots(task("c", 100), gone.signal);
  await clock.settle();
  gone.abort();
  await expect(waiting).rejects.toThrow(AbortedError);
  await clock.advance(100);
  expect(begun).toEqual(["a", "b"]);
});
