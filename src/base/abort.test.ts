import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import {
  AbortedError,
  aborted,
  childController,
  delayedSignal,
  isAbort,
  sleep,
  throwIfAborted,
  untilAborted,
} from "./abort.ts";

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

it.each([
  [new AbortedError(), true],
  [AbortSignal.abort().reason, true],
  [new Error("AbortError"), false],
  [Object.assign(new Error("x"), { code: "ABORT_ERR" }), false],
  [undefined, false],
  ["AbortError", false],
])("isAbort(%s): %s", (thrown, expected) => {
  expect(isAbort(thrown)).toBe(expected);
});

it("throwIfAborted throws when the signal has fired", () => {
  throwIfAborted(undefined);
  throwIfAborted(new AbortController().signal);
  expect(() => throwIfAborted(AbortSignal.abort())).toThrow(AbortedError);
});

describe("sleep", () => {
  it("ends after its time, and leaves nothing behind", async () => {
    const clock = createFakeClock();
    const { signal } = new AbortController();
    let isAwake = false;
    const slept = sleep(clock, 1_000, signal).then(() => {
      isAwake = true;
    });
    await clock.advance(999);
    expect(isAwake).toBe(false);
    await clock.advance(1);
    await slept;
    expect(listeners(signal)).toBe(0);
  });

  it("rejects when the signal fires, and leaves nothing behind", async () => {
    const clock = createFakeClock();
    const controller = new AbortController();
    const slept = sleep(clock, 1_000, controller.signal);
    controller.abort();
    await expect(slept).rejects.toThrow(AbortedError);
    expect(clock.pendingTimers).toBe(0);
    await expect(sleep(clock, 1_000, controller.signal)).rejects.toThrow(AbortedError);
  });
});

describe("untilAborted", () => {
  it("settles as the promise does, and stops listening", async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
    expect(listeners(signal)).toBe(0);
  });

  it("rejects first when the signal fires first", async () => {
    const controller = new AbortController();
    const never = new Promise<void>(() => undefined);
    const waiting = untilAborted(never, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toThrow(AbortedError);
    await expect(untilAborted(never, controller.signal)).rejects.toThrow(AbortedError);
  });
});

it("aborted resolves when the signal fires", async () => {
  const controller = new AbortController();
  const waiting = aborted(controller.signal);
  controller.abort();
  await waiting;
  await aborted(controller.signal);
});

describe("childController", () => {
  it("follows its parent, and can be aborted alone", () => {
    const parent = new AbortController();
    const [one, other] = [childController(parent.signal), childController(parent.signal)];
    one.controller.abort();
    expect(parent.signal.aborted).toBe(false);
    parent.abort();
    expect(other.controller.signal.aborted).toBe(true);
    expect(childController(parent.signal).controller.signal.aborted).toBe(true);
  });

  it("leaves its parent alone once it is released", () => {
    const parent = new AbortController();
    const { controller, release } = childController(parent.signal);
    release();
    expect(listeners(parent.signal)).toBe(0);
    parent.abort();
    expect(controller.signal.aborted).toBe(false);
  });
});

describe("delayedSignal", () => {
  it("fires so long after its parent", async () => {
    const clock = createFakeClock();
    const parent = new AbortController();
    const { signal } = delayedSignal(parent.signal, clock, 100);
    await clock.advance(1_000);
    parent.abort();
    await clock.advance(99);
    expect(signal.aborted).toBe(false);
    await clock.advance(1);
    expect(signal.aborted).toBe(true);
    const late = delayedSignal(parent.signal, clock, 100).signal;
    await clock.advance(100);
    expect(late.aborted).toBe(true);
  });

  it("never fires once it is released", async () => {
    const clock = createFakeClock();
    const parent = new AbortController();
    const [before, after] = [delayedSignal(parent.signal, clock, 100), delayedSignal(parent.signal, clock, 100)];
    before.release();
    expect(listeners(parent.signal)).toBe(1);
    parent.abort();
    after.release();
    await clock.advance(1_000);
    expect([before, after].map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });
});
