import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { Image } from "../../../cri/gen/cri-v1.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createImageInventory } from "./image-inventory.ts";

function setUp() {
  const clock = createFakeClock();
  const world = { tags: ["a"], fails: false };
  const at: number[] = [];
  const inventory = createImageInventory(
    {
      clock,
      log: silentLog,
      async listImages() {
        at.push(clock.monotonic());
        if (world.fails) throw new Error("runtime is down");
        return world.tags.map((tag) => Image.fromPartial({ id: tag, repoTags: [tag], size: 5n }));
      },
    },
    { maxImages: 50 },
  );
  const controller = new AbortController();
  const running = inventory.run(controller.signal);
  const stop = async () => {
    controller.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
    expect(clock.pendingTimers).toBe(0);
  };
  const names = () => inventory.images()?.flatMap((image) => image.names ?? []);
  return { clock, world, at, names, stop };
}

it("lists images at the start and every thirty seconds", async () => {
  const { clock, world, at, names, stop } = setUp();
  expect(names()).toBeUndefined();
  await clock.settle();
  expect(names()).toEqual(["a"]);
  world.tags = ["b"];
  await clock.advance(30_000);
  expect(names()).toEqual(["b"]);
  expect(at).toEqual([0, 30_000]);
  await stop();
});

it("keeps the last list while there is no other, and tries sooner", async () => {
  const { clock, world, at, names, stop } = setUp();
  await clock.settle();
  world.fails = true;
  await clock.advance(130_000);
  expect(names()).toEqual(["a"]);
  expect(at).toEqual([0, 30_000, 31_000, 33_000, 37_000, 45_000, 61_000, 91_000, 121_000]);
  world.fails = false;
  world.tags = [];
  await clock.advance(30_000);
  expect(names()).toEqual([]);
  await stop();
});
