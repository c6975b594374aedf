import { expect, it } from "vitest";
import { isAbort } from "../../../base/abort.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodNetwork } from "./pod-network.ts";

function createRig() {
  const clock = createFakeClock();
  const told: string[] = [];
  const world = { fails: false };
  const network = createPodNetwork({
    clock,
    log: silentLog,
    runtime: {
      async updateRuntimeConfig({ runtimeConfig }) {
        told.push(runtimeConfig?.networkConfig?.podCidr ?? "none");
        if (world.fails) throw new Error("not now");
        return {};
      },
    },
  });
  const stopping = new AbortController();
  const ended = network.run(stopping.signal).catch((error: unknown) => {
    if (!isAbort(error)) throw error;
  });
  const observe = async (...podCidrs: string[]) => {
    network.observe(podCidrs);
    await clock.settle();
    return told.splice(0);
  };
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  return { clock, told, world, observe, stop };
}

it("tells the runtime each range once, all of a node's together, and nothing where there is none", async () => {
  const { observe, stop } = createRig();
  expect(await observe()).toEqual([]);
  expect(await observe("10.1.0.0/24", "fd00::/64")).toEqual(["10.1.0.0/24,fd00::/64"]);
  expect(await observe("10.1.0.0/24", "fd00::/64")).toEqual([]);
  expect(await observe()).toEqual([]);
  expect(await observe("10.2.0.0/24")).toEqual(["10.2.0.0/24"]);
  await stop();
});

it("tries again until the runtime takes it, with the newest", async () => {
  const { clock, told, world, observe, stop } = createRig();
  world.fails = true;
  expect(await observe("10.1.0.0/24")).toEqual(["10.1.0.0/24"]);
  await clock.advance(5_000);
  expect(told.splice(0)).toEqual(["10.1.0.0/24"]);
  world.fails = false;
  expect(await observe("10.2.0.0/24")).toEqual([]);
  await clock.advance(5_000);
  expect(told).toEqual(["10.2.0.0/24"]);
  await stop();
  expect(clock.pendingTimers).toBe(0);
});
