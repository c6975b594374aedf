import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodeUnderTest, type NodeUnderTest } from "../node-under-test.ts";
import { isRunning, RUN_FOR_EVER, shellPod } from "../pods.ts";
import { readRunningContainers } from "../runtime-state.ts";
import { type HungMount, mountHung } from "./hung-mount.ts";
import { createVolumeHost, mountingPod, type VolumeHost } from "./volume-node.ts";

/** As many as the threads that a process has for files. */
const STALLED_PODS = 4;
/** When the pod's event has to have come. */
const EVENT_MS = 180_000;
/** A stop takes less, also on a busy machine; one that is stuck never ends. */
const STOP_MS = 30_000;
const LEFT_BEHIND = /Exiting while calls of the machine have no answer.*exitCode=0/;

describe("a node agent of which a file system that does not answer holds threads", () => {
  let node: NodeUnderTest;
  let host: VolumeHost;
  let hung: HungMount | undefined;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    host = await createVolumeHost(node);
    await node.start();
  });
  afterAll(async () => {
    await hung?.free();
    await node?.destroy();
  });

  const stalls = async () => {
    const find = async () => (await node.events("stalled-0")).some(({ reason }) => reason === "FailedMount");
    await expect.poll(find, { timeout: EVENT_MS, interval: 100 }).toBe(true);
  };
  const stop = async (signals = 1) => {
    const late = new Promise<string>((resolve) => setTimeout(resolve, STOP_MS, "still there").unref());
    return await Promise.race([node.stop({ signals, leavesCalls: true }), late]);
  };

  it("ends in order, with exit code 0, and the next one finds its pods", async () => {
    await node.write("bystander.json", shellPod("bystander", RUN_FOR_EVER));
    const { metadata } = await node.pod("bystander", isRunning);
    const path = join(host.scratch, "hung");
    hung = await mountHung(node, path);
    for (let number = 0; number < STALLED_PODS; number++) {
      const volumes = { v: { hostPath: { path, type: "Directory" } } };
      await node.write(`stalled-${number}.json`, mountingPod(`stalled-${number}`, { volumes }));
    }
    await stalls();
    expect(await stop()).toBe(0);
    expect(node.log()).toMatch(LEFT_BEHIND);
    expect(await readRunningContainers(node)).toHaveLength(1);
    await node.start();
    expect((await node.pod("bystander", isRunning)).metadata?.uid).toBe(metadata?.uid);
  }, 400_000);

  it("ends at once at the second signal", async () => {
    await stalls();
    const before = node.log().length;
    expect(await stop(2)).toBe(143);
    expect(node.log().slice(before)).toMatch(/Second signal, exiting at once/);
  }, 400_000);
});
