import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRunning } from "../pods.ts";
import { createClaimed, ON_THIS_NODE, ofClaim, removeClaimed } from "./claims.ts";
import { type HungMount, mountHung } from "./hung-mount.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

/** More pods than the threads that this process has for files: each stalled look takes one. */
const STALLED_PODS = 6;
const BYSTANDER_MS = 10_000;
/** When the pod's event has to have come. */
const EVENT_MS = 180_000;

describe("a file system that does not answer", () => {
  let world: VolumeNode;
  let hung: HungMount | undefined;
  beforeAll(async () => {
    world = await createVolumeNode();
  });
  afterAll(async () => {
    await hung?.free();
    await world?.destroy();
  });

  const eventOf = async (name: string) => {
    const find = async () => (await world.events(name)).find(({ reason }) => reason === "FailedMount")?.message;
    await expect.poll(find, { timeout: EVENT_MS, interval: 100 }).toBeDefined();
    return (await find()) ?? "";
  };

  it("stalls the pods that mount it, and no other; they run when it answers", async () => {
    const path = join(world.scratch, "hung");
    await mkdir(path);
    await createClaimed(world, { name: "hung", source: { local: { path } }, volume: ON_THIS_NODE });
    hung = await mountHung(world.node, path);
    const names = Array.from({ length: STALLED_PODS }, (_, index) => `stalled-${index}`);
    for (const name of names) {
      const hostPath = { path, type: "Directory" };
      await world.create(mountingPod(name, { volumes: { v: { hostPath } } }));
    }
    await world.create(mountingPod("stalled-claim", { volumes: { v: ofClaim("hung") } }));

    const bystander = mountingPod("bystander", {
      volumes: { d: { emptyDir: {} }, m: { emptyDir: { medium: "Memory" } } },
    });
    await world.create(bystander);
    await world.pod("bystander", isRunning, BYSTANDER_MS);
    expect(await world.end("bystander")).toEqual([]);

    for (const name of ["stalled-0", "stalled-claim"]) expect(await eventOf(name)).toMatch(/volume "(v|hung)"/);
    await world.run(mountingPod("later", { volumes: { d: { emptyDir: {} } } }));
    expect(await world.end("later")).toEqual([]);
    for (const name of names) expect((await world.read(name))?.status?.phase).toBe("Pending");

    // A deleted pod goes, also while it is stalled.
    await world.remove("stalled-1");
    await world.gone("stalled-1", 60_000);

    await hung.free();
    hung = undefined;
    for (const name of names.filter((stalled) => stalled !== "stalled-1")) await world.pod(name, isRunning, 60_000);
    await world.pod("stalled-claim", isRunning, 60_000);
    for (const name of [...names, "stalled-claim"]) {
      if (name !== "stalled-1") expect(await world.end(name)).toEqual([]);
    }
    await removeClaimed(world, "hung");
  }, 600_000);
});
