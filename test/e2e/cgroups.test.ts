import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../src/api/gen/types.ts";
import { createLinuxCgroups } from "../../src/host/linux/cgroups/linux-cgroups.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

const MIB = 1024 * 1024;
const PIDS_LIMIT = 300;

const cgroups = createLinuxCgroups();
const uidOf = (pod: Pod) => pod.metadata?.uid ?? "";
const resources = (cpu: string, memory: string) => ({ cpu, memory });

describe("cgroups of pods", () => {
  let node: NodeUnderTest;
  let root = "";
  beforeAll(async () => {
    const configuration = { podPidsLimit: PIDS_LIMIT, systemReserved: { memory: "64Mi" } };
    node = await createNodeUnderTest({ configuration });
    root = `${node.cgroup?.cgroupRoot}/kubepods`;
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  const run = async (name: string, container: object, spec: object = {}): Promise<Pod> => {
    await node.write(`${name}.json`, shellPod(name, RUN_FOR_EVER, spec, container));
    return await node.pod(name, isRunning);
  };
  const end = async (name: string) => {
    await node.remove(`${name}.json`);
    await node.gone(name);
  };
  const until = async (holds: () => boolean, timeoutMs = 10_000) => {
    const deadline = Date.now() + timeoutMs;
    while (!holds() && Date.now() < deadline) await delay(20);
    expect(holds()).toBe(true);
  };
  const limitsOf = async (path: string) => {
    const usage = await cgroups.read(path, { details: true });
    const { cpuShares, cpuQuotaMicroseconds: quota, maxTasks } = usage?.details ?? {};
    return { cpuShares, quota, maxTasks, memory: usage?.memory?.limit };
  };
  /** The pause process and the pod's own. */
  const expectProcesses = (path: string, atLeast: number) =>
    expect(cgroups.processes(path).length).toBeGreaterThanOrEqual(atLeast);

  it.skipIf(!canMakeCgroups())("limit pods as a whole, each in the cgroup of its class, and go with them", async () => {
    const limited = { limits: resources("500m", "64Mi"), requests: resources("500m", "64Mi") };
    const [guaranteed, burstable, bestEffort] = await Promise.all([
      run("guaranteed", { resources: limited }),
      run("burstable", { resources: { requests: { cpu: "250m" }, limits: { memory: "32Mi" } } }),
      run("besteffort", {}),
    ]);
    const paths = [
      `${root}/pod${uidOf(guaranteed)}`,
      `${root}/burstable/pod${uidOf(burstable)}`,
      `${root}/besteffort/pod${uidOf(bestEffort)}`,
    ] as const;
    const shares = async (path: string) => (await limitsOf(path)).cpuShares;
    expect(await limitsOf(paths[0])).toMatchObject({ quota: 50_000, maxTasks: PIDS_LIMIT, memory: 64 * MIB });
    expect(await limitsOf(paths[1])).toMatchObject({ quota: undefined, maxTasks: PIDS_LIMIT, memory: 32 * MIB });
    expect(await limitsOf(paths[2])).toMatchObject({ quota: undefined, maxTasks: PIDS_LIMIT, memory: undefined });
    // Version 2 has other numbers, which come back as nearly the same.
    const isNear = (found: number | undefined, wanted: number) => Math.abs((found ?? 0) - wanted) <= 27;
    expect(isNear(await shares(paths[0]), 512)).toBe(true);
    expect(isNear(await shares(paths[1]), 256)).toBe(true);
    expect(isNear(await shares(`${root}/burstable`), 256)).toBe(true);
    expect(isNear(await shares(paths[2]), 2)).toBe(true);
    expect(isNear(await shares(`${root}/besteffort`), 2)).toBe(true);
    expect((await limitsOf(root)).memory).toBeGreaterThan(64 * MIB);
    for (const path of paths) expectProcesses(path, 2);
    await Promise.all(["guaranteed", "burstable", "besteffort"].map(end));
    for (const path of paths) expect(cgroups.findLack(path)).toBeDefined();
    expect(await shares(`${root}/burstable`)).toBe(2);
  });

  it.skipIf(!canMakeCgroups())("outlive an agent that is killed, and go with a pod that went meanwhile", async () => {
    const stays = await run("stays", {});
    const goes = await run("goes", {});
    await node.kill();
    await node.remove("goes.json");
    const forgotten = `${root}/burstable/pod0123456789abcdef0123456789abcdef`;
    await cgroups.make(forgotten);
    await node.start();
    await node.gone("goes");
    await until(() => cgroups.findLack(`${root}/besteffort/pod${uidOf(goes)}`) !== undefined);
    const after = await node.pod("stays", isRunning);
    expect(containerOf(after, "main")?.restartCount).toBe(0);
    expect(containerOf(after, "main")?.containerID).toBe(containerOf(stays, "main")?.containerID);
    expectProcesses(`${root}/besteffort/pod${uidOf(stays)}`, 2);
    await until(() => cgroups.findLack(forgotten) !== undefined, 5_000);
    await end("stays");
  });

  it.skipIf(!canMakeCgroups())("adopt pods that had none, which run on", async () => {
    await node.stop();
    await node.start(["--cgroups-per-qos=false", "--enforce-node-allocatable=none"]);
    const before = await run("older", {});
    expect(cgroups.findLack(`${root}/besteffort/pod${uidOf(before)}`)).toBeDefined();
    await node.stop();
    await node.start();
    await until(() => cgroups.findLack(`${root}/besteffort/pod${uidOf(before)}`) === undefined);
    const after = await node.pod("older", isRunning);
    expect(containerOf(after, "main")?.containerID).toBe(containerOf(before, "main")?.containerID);
    await end("older");
    expect(cgroups.findLack(`${root}/besteffort/pod${uidOf(before)}`)).toBeDefined();
  });

  it.skipIf(!canMakeCgroups())("need a root that is there", async () => {
    await node.stop();
    const failure = await node.start(["--cgroup-root=/nodelet-none"]).catch((error: unknown) => String(error));
    expect(failure).toMatch(/invalid configuration: cgroup \[.*nodelet-none.*\] has .*cgroupsPerQOS: false/);
  });
});

/** Asked of the kernel: a container may see cgroups that it cannot make. */
function canMakeCgroups(): boolean {
  return process.getuid?.() === 0 && cgroups.findLack("/") === undefined;
}
