import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";
import { findDoubles, readRunningContainers } from "./runtime-state.ts";

const OUTAGE_MS = 5_000;

describe("a node agent whose containerd goes away and comes back", () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    node = await createNodeUnderTest();
    await node.start();
    await node.write("stays.json", shellPod("stays", RUN_FOR_EVER));
    await node.pod("stays", isRunning);
  });
  afterAll(async () => await node?.destroy());

  const readiness = async () => {
    const { node: answered } = await node.report();
    return answered.conditions.find(({ type }) => type === "Ready");
  };
  const readPids = async () => (await readRunningContainers(node)).map(({ pod, id, pid }) => ({ pod, id, pid }));

  it("goes on after containerd was restarted in order, and its pods never notice", async () => {
    const before = await readPids();
    const from = node.log().length;
    await node.endContainerd("stopped");
    await node.startContainerd();
    await expect.poll(async () => (await readiness())?.status, { timeout: 15_000 }).toBe("True");
    expect(await readPids()).toEqual(before);
    await node.write("new.json", shellPod("new", "exit 0", { restartPolicy: "Never" }));
    await node.pod("new", ({ status }) => status?.phase === "Succeeded");
    await node.remove("new.json");
    await node.gone("new");
    const pod = await node.pod("stays", isRunning);
    expect(containerOf(pod, "main")?.restartCount).toBe(0);
    expect(await readPids()).toEqual(before);
    expect(node.log().slice(from)).not.toMatch(/Crash:/);
  });

  it("bears containerd killed for seconds: says so, starts what was added, sees what ended", async () => {
    await node.write("ends.json", shellPod("ends", RUN_FOR_EVER, { restartPolicy: "Never" }));
    await node.write("again.json", shellPod("again", "sleep 100000", { restartPolicy: "Always" }));
    await node.pod("ends", isRunning);
    await node.pod("again", isRunning);
    const before = await readPids();
    const pidOf = (name: string) => before.find(({ pod }) => pod === `${name}-e2e`)?.pid ?? 0;
    const from = node.log().length;

    await node.endContainerd("killed");
    await node.write("added.json", shellPod("added", RUN_FOR_EVER));
    for (const name of ["ends", "again"]) process.kill(pidOf(name), "SIGKILL");
    await node.logged(/Container runtime is not ready/, { from });
    const unready = await readiness();
    expect(unready?.status).toBe("False");
    expect(unready?.message).toMatch(/container runtime is down/);
    await delay(OUTAGE_MS);
    process.kill(pidOf("stays"), 0);
    await node.startContainerd();

    await node.logged(/Container runtime is ready/, { from });
    await node.pod("added", isRunning);
    const ended = await node.pod("ends", ({ status }) => status?.phase === "Failed");
    expect(containerOf(ended, "main")?.state?.terminated?.exitCode).not.toBe(0);
    await node.pod("again", (pod) => containerOf(pod, "main")?.restartCount === 1 && isRunning(pod));
    const stays = (await readPids()).filter(({ pod }) => pod === "stays-e2e");
    expect(stays).toEqual(before.filter(({ pod }) => pod === "stays-e2e"));
    expect(await findDoubles(node)).toEqual([]);
    expect((await readiness())?.status).toBe("True");
  });

  it("starts while containerd is down, waits for it, and then adopts the pods", async () => {
    const before = (await readPids()).filter(({ pod }) => pod === "stays-e2e");
    await node.stop();
    await node.endContainerd("killed");
    const from = node.log().length;
    const started = node.start();
    await node.logged(/Container runtime is not ready/, { from });
    await node.startContainerd();
    await started;
    await node.pod("stays", isRunning);
    expect((await readPids()).filter(({ pod }) => pod === "stays-e2e")).toEqual(before);
  });
});
