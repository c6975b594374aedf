import type { Node } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, untilPod, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";
import { readSummary } from "./statistics.ts";

const MIB = 1_048_576;
/** What a pod takes of the machine's memory, and how much less than that would be left over. */
const TAKEN_MIB = 400;
const MARGIN_MIB = 200;
const OOM_KILLS = "awk '$1 == \"oom_kill\" { print $2 }' /proc/vmstat";

/** The node is short of memory before the kernel is: it ends a pod in order, and the kernel kills nobody. */
export const memoryPressure: Scenario = {
  name: "memory-pressure",
  promise:
    "a pod that takes the machine's memory is evicted before the kernel kills anybody, and its neighbour runs on",
  needs: "qemu",
  run: async (at) => {
    const { node } = await readSummary(at, (summary) => summary.node.memory?.availableBytes !== undefined);
    const free = Math.floor((node.memory?.availableBytes ?? 0) / MIB);
    const threshold = free - TAKEN_MIB + MARGIN_MIB;
    const settings = `evictionHard: { memory.available: ${threshold}Mi }\nevictionPressureTransitionPeriod: 5s`;
    const killed = await at.machine.read(OOM_KILLS);
    await withKubeletConfiguration(at, settings, async () => {
      await createPod(at, "neighbour");
      const before = whoRuns(await untilReady(at, "neighbour"));
      await createPod(at, "filling", {
        script: `head -c ${TAKEN_MIB * MIB} /dev/zero > /scratch/file; sleep 3600`,
        container: { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] },
        spec: { volumes: [{ name: "scratch", emptyDir: { medium: "Memory" } }], terminationGracePeriodSeconds: 1 },
      });
      const { status } = await untilPod(at, "filling", (pod) => pod.status?.phase === "Failed");
      at.note(`filling: ${status?.reason}, ${status?.message}`);
      expectSame(status?.reason ?? "", "Evicted", "the reason");
      expectSame(await at.machine.read(OOM_KILLS), killed, "how many processes the kernel has killed");
      await untilRelieved(at);
      expectSame(whoRuns(await untilReady(at, "neighbour")), before, "the container of the neighbour");
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      await deletePods(at, "filling", "neighbour", "newcomer");
    });
  },
};

async function untilRelieved(at: Stage): Promise<void> {
  await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (text) => {
    const { status, spec }: Node = JSON.parse(text);
    const pressure = status?.conditions?.find(({ type }) => type === "MemoryPressure");
    return pressure?.status === "False" && (spec?.taints ?? []).length === 0;
  });
}
