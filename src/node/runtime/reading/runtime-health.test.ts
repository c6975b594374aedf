import { afterEach, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeCri } from "../../../cri/fake/create-fake-cri.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createRuntimeHealth } from "./runtime-health.ts";

const stops: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

async function createRig() {
  const clock = createFakeClock();
  const asked: string[] = [];
  const cri = createFakeCri({ clock, faults: { before: ({ rpc }) => void asked.push(rpc) } });
  const health = createRuntimeHealth({ runtime: cri.runtime, clock, log: silentLog });
  const stopping = new AbortController();
  const before = { runtime: health.runtimeError(), network: health.networkError(), version: health.runtime() };
  const ended = health.run(stopping.signal).catch((error: Error) => error.name);
  stops.push(async () => {
    stopping.abort();
    expect(await ended).toBe("AbortError");
    expect(clock.pendingTimers).toBe(0);
  });
  await clock.settle();
  return { clock, cri, health, before, asked: () => asked.splice(0) };
}

it("is unknown until the runtime has answered", async () => {
  const { before, health } = await createRig();
  const unknown = "container runtime status check may not have completed yet";
  expect(before).toMatchObject({ runtime: unknown, network: unknown, version: { name: "", version: "" } });
  expect(health.runtimeError()).toBeUndefined();
  expect(health.networkError()).toBeUndefined();
  expect(health.runtime()).toMatchObject({ name: "fake", version: "v1.0.0" });
});

it("is asked for every five seconds while all is well, and the version not again", async () => {
  const { clock, asked } = await createRig();
  expect(asked()).toEqual(["status", "version"]);
  await clock.advance(15_000);
  expect(asked()).toEqual(["status", "status", "status"]);
});

it("tells the runtime from its network, and which of them is not ready and why", async () => {
  const { clock, cri, health } = await createRig();
  cri.setNetworkReady(false, "cni plugin not initialized");
  await clock.advance(5_000);
  expect(health.runtimeError()).toBeUndefined();
  expect(health.networkError()).toBe(
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:cni plugin not initialized",
  );
  cri.setNetworkReady(true);
  await clock.advance(5_000);
  expect(health.networkError()).toBeUndefined();
});

it("keeps asking a runtime that is down: soon at first, then every five seconds", async () => {
  const { clock, cri, health, asked } = await createRig();
  cri.stop();
  await clock.advance(5_000);
  expect(health.runtimeError()).toContain("container runtime is down: ");
  expect(health.networkError()).toBeUndefined();
  const waits: Array<number | undefined> = [];
  for (let round = 0; round < 8; round++) {
    waits.push(clock.untilNextTimer());
    await clock.advance(clock.untilNextTimer() ?? 0);
  }
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  cri.start();
  asked();
  await clock.advance(5_000);
  expect(health.runtimeError()).toBeUndefined();
  // It may be another one that came back.
  expect(asked()).toEqual(["status", "version"]);
});
