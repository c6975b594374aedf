import { expect, it } from "vitest";
import type { Stall } from "../../../base/stall-meter.ts";
import { systemEventLoop } from "./event-loop.ts";

const LEAST_MS = 20;

const hold = (ms: number) => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};
const quiet = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

it("tells what held the loop, also as it ends a quiet time with an announcement, and nothing after its stop", async () => {
  const stalls: Stall[] = [];
  const watch = systemEventLoop.watch(LEAST_MS, (stall) => stalls.push(stall));
  // The timer is at its long period then, unless the machine is busy, which makes it tell no less.
  await quiet(10 * LEAST_MS);
  watch.expectWork();
  hold(10 * LEAST_MS);
  await quiet(LEAST_MS);
  const told = stalls.reduce((most, { heldMs }) => Math.max(most, heldMs), 0);
  expect(told).toBeGreaterThanOrEqual(9 * LEAST_MS - 1);
  expect(stalls.every(({ cpuMs }) => cpuMs >= 0)).toBe(true);
  watch.stop();
  stalls.length = 0;
  hold(3 * LEAST_MS);
  await quiet(3 * LEAST_MS);
  expect(stalls).toEqual([]);
});
