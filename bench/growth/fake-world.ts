import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { connectCri } from "../../src/cri/connect.ts";
import { makePlace, type World } from "../world.ts";
import type { FakeRuntimeOrder, FakeRuntimeReport } from "./fake-runtime-process.ts";

const FAKE_RUNTIME_PROCESS = new URL("./fake-runtime-process.ts", import.meta.url);

/** A world whose runtime is the fake of the tests, in a process of its own. `lacks` names RPCs that it does not have. */
export async function createFakeWorld(lacks: readonly string[] = []): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-"));
  const socket = join(directory, "fake.sock");
  const child = fork(FAKE_RUNTIME_PROCESS);
  const end = async () => {
    if (child.connected) child.disconnect();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const order: FakeRuntimeOrder = { socket, lacks };
    child.send(order);
    const [report]: FakeRuntimeReport[] = await once(child, "message");
    if (report?.kind === "failed") throw new Error(report.message);
  } catch (error) {
    await end();
    throw error;
  }
  const endpoint = `unix://${socket}`;
  const cri = connectCri({ endpoint, log: silentLog, metrics: createMetrics() });
  const cgroups = { cgroupsPerQOS: false, enforceNodeAllocatable: [] };
  return {
    directory,
    // What a node agent mounts goes with it.
    containerd: { endpoint, version: "none", enterMountNamespace: ["unshare", "--mount", "--propagation=private"] },
    cri,
    cgroups,
    agentLog: join(directory, "agent.log"),
    floorDirectory: join(directory, "floor"),
    makePlace: async (build) => await makePlace(join(directory, build.name), { build, endpoint, cgroups }),
    async destroy() {
      cri.close();
      await end();
    },
  };
}
