import { availableParallelism, cpus } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as cri from "../../src/cri/gen/cri-v1.ts";
import { createNodeUnderTest, type NodeUnderTest } from "./node-under-test.ts";
import { containerOf, isRunning, RUN_FOR_EVER, shellPod } from "./pods.ts";

/** A machine of which this process may use a part only could not give containers the rest. */
const isWhole = cpus().length > 1 && availableParallelism() === cpus().length;

describe.skipIf(!isWhole || process.getuid?.() !== 0)("CPUs of containers", () => {
  let node: NodeUnderTest;
  beforeAll(async () => {
    // One CPU is left to be given, on whatever machine.
    const systemReserved = { cpu: String(cpus().length - 1) };
    const configuration = { cpuManagerPolicy: "static", cpuManagerReconcilePeriod: "1s", systemReserved };
    node = await createNodeUnderTest({ configuration });
    await node.start();
  });
  afterAll(async () => await node?.destroy());

  /** The kernel's list of the CPUs on which the pod's process may run. */
  const cpusOf = async (name: string): Promise<string> => {
    const id = containerOf(await node.pod(name, isRunning), "main")?.containerID?.replace(/^.*\/\//, "") ?? "";
    const cmd = ["sh", "-c", "grep Cpus_allowed_list /proc/1/status"];
    const request = cri.ExecSyncRequest.fromPartial({ containerId: id, cmd, timeout: 60n });
    const { stdout } = await node.cri.runtime.execSync(request, {});
    return Buffer.from(stdout)
      .toString()
      .replace(/^.*:\s*/, "")
      .trim();
  };
  const until = async (holds: () => Promise<boolean>): Promise<void> => {
    const deadline = Date.now() + 60_000;
    while (!(await holds()) && Date.now() < deadline) await delay(200);
    expect(await holds()).toBe(true);
  };

  it("are one container's alone, over a restart of the agent, until its pod is gone", async () => {
    await node.write("shares.json", shellPod("shares", RUN_FOR_EVER));
    const all = await cpusOf("shares");
    const amounts = { cpu: "1", memory: "64Mi" };
    const resources = { requests: amounts, limits: amounts };
    await node.write("owns.json", shellPod("owns", RUN_FOR_EVER, {}, { resources }));
    const own = await cpusOf("owns");
    expect(own).toMatch(/^\d+$/);
    await until(async () => (await cpusOf("shares")) !== all);
    const rest = await cpusOf("shares");
    expect(rest.split(/[-,]/)).not.toContain(own);
    await node.kill();
    await node.start();
    expect([await cpusOf("owns"), await cpusOf("shares")]).toEqual([own, rest]);
    await node.remove("owns.json");
    await node.gone("owns");
    await until(async () => (await cpusOf("shares")) === all);
  });
});
