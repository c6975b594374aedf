import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { sleep } from "../../../base/abort.ts";
import { withDeadline } from "../../../base/time-limit.ts";
import { systemClock } from "./system-clock.ts";

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("fires a timer of thirty days after thirty days, and not at once", async () => {
  let fired = 0;
  systemClock.setTimer(30 * DAY_MS, () => {
    fired++;
  });
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
  expect(fired).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(fired).toBe(1);
});

it("forgets a timer that was cancelled in its second half", async () => {
  let fired = 0;
  const timer = systemClock.setTimer(30 * DAY_MS, () => {
    fired++;
  });
  await vi.advanceTimersByTimeAsync(29 * DAY_MS);
  timer.cancel();
  await vi.advanceTimersByTimeAsync(2 * DAY_MS);
  expect(fired).toBe(0);
});

it("gives sleeps and time limits all of their time", async () => {
  const { signal } = new AbortController();
  let slept = false;
  const sleeping = sleep(systemClock, 30 * DAY_MS, signal).then(() => {
    slept = true;
  });
  const limit = { timeoutMs: 40 * DAY_MS, signal, what: "waiting" };
  const waiting = withDeadline(systemClock, limit, async () => await new Promise(() => undefined)).catch(
    (error: Error) => error.message,
  );
  await vi.advanceTimersByTimeAsync(30 * DAY_MS - 1);
  expect(slept).toBe(false);
  await vi.advanceTimersByTimeAsync(10 * DAY_MS + 1);
  await sleeping;
  expect(await waiting).toContain("waiting took longer");
});
