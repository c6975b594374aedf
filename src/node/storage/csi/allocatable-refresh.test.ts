import { expect, it } from "vitest";
import type { CSIDriver } from "../../../api/gen/types.ts";
import { sleep } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createAllocatableRefresh } from "./allocatable-refresh.ts";

function createRig() {
  const clock = createFakeClock();
  const registered = new Set<string>();
  const objects = new Map<string, CSIDriver>();
  const driverListeners = new Set<(name: string) => void>();
  const objectListeners = new Set<(name: string) => void>();
  const asked: string[] = [];
  const warnings: string[] = [];
  let failure: Error | "hang" | undefined;
  const rig = {
    clock,
    asked,
    warnings,
    fail(how: Error | "hang" | undefined) {
      failure = how;
    },
    listeners: () => driverListeners.size + objectListeners.size,
    register(name: string, isThere = true) {
      if (isThere) registered.add(name);
      else registered.delete(name);
      for (const listener of driverListeners) listener(name);
    },
    setPeriod(name: string, seconds: number | undefined) {
      if (seconds === undefined) objects.delete(name);
      else objects.set(name, { spec: { nodeAllocatableUpdatePeriodSeconds: seconds } });
      for (const listener of objectListeners) listener(name);
    },
    run() {
      const controller = new AbortController();
      const ended = refresh.run(controller.signal);
      return async () => {
        controller.abort();
        await ended;
      };
    },
  };
  const refresh = createAllocatableRefresh({
    clock,
    log: { ...silentLog, warn: (message) => warnings.push(message) },
    drivers: {
      get: (name) => (registered.has(name) ? name : undefined),
      list: () => [...registered].map((name) => ({ name })),
      subscribe(listener) {
        driverListeners.add(listener);
        return () => driverListeners.delete(listener);
      },
      async refresh(name, signal) {
        asked.push(name);
        if (failure === "hang") await sleep(clock, Number.MAX_SAFE_INTEGER, signal);
        else if (failure !== undefined) throw failure;
      },
    },
    objects: {
      get: (name) => objects.get(name),
      subscribe(listener) {
        objectListeners.add(listener);
        return () => objectListeners.delete(listener);
      },
    },
  });
  return rig;
}

it("asks each driver as often as its object says, whichever comes first", async () => {
  const rig = createRig();
  rig.register("a");
  rig.setPeriod("a", 20);
  const stop = rig.run();
  rig.setPeriod("b", 30);
  rig.register("b");
  rig.register("silent");
  await rig.clock.advance(60_000);
  expect(rig.asked.toSorted()).toEqual(["a", "a", "a", "b", "b"]);
  await stop();
  expect(rig.clock.pendingTimers).toBe(0);
  expect(rig.listeners()).toBe(0);
});

it("follows a period that changes, ends with it, and with the driver", async () => {
  const rig = createRig();
  rig.register("a");
  rig.setPeriod("a", 100);
  const stop = rig.run();
  await rig.clock.advance(90_000);
  rig.setPeriod("a", 20);
  await rig.clock.advance(40_000);
  expect(rig.asked).toHaveLength(2);
  rig.setPeriod("a", undefined);
  await rig.clock.advance(300_000);
  expect(rig.asked).toHaveLength(2);
  rig.setPeriod("a", 20);
  await rig.clock.advance(20_000);
  expect(rig.asked).toHaveLength(3);
  rig.register("a", false);
  await rig.clock.advance(300_000);
  expect(rig.asked).toHaveLength(3);
  await stop();
});

it("asks no more than every ten seconds", async () => {
  const rig = createRig();
  rig.register("a");
  rig.setPeriod("a", 1);
  const stop = rig.run();
  await rig.clock.advance(60_000);
  expect(rig.asked).toHaveLength(6);
  await stop();
});

it("goes on after a failure, and a driver that hangs stalls no other", async () => {
  const rig = createRig();
  rig.register("a");
  rig.register("b");
  rig.setPeriod("a", 20);
  rig.setPeriod("b", 30);
  const stop = rig.run();
  rig.fail(new Error("broken"));
  await rig.clock.advance(20_000);
  rig.fail(undefined);
  await rig.clock.advance(20_000);
  expect(rig.asked).toEqual(["a", "b", "a"]);
  rig.fail("hang");
  await rig.clock.advance(20_000);
  rig.fail(undefined);
  rig.register("c");
  rig.setPeriod("c", 10);
  await rig.clock.advance(10_000);
  expect(rig.asked.at(-1)).toBe("c");
  await stop();
  expect(rig.warnings).toEqual(["Cannot ask a CSI driver for its volume limit"]);
  expect(rig.clock.pendingTimers).toBe(0);
});
