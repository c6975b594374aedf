import type { Node } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, readLog, readPodCgroup, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess } from "./service.ts";

const MIB = 1_048_576;
const PAGES = 16;
const PAGE_MIB = 2;
const LIMIT_MIB = 8;
const RESOURCE = "hugepages-2Mi";
const RESERVE = (pages: number) => `echo ${pages} > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`;

/** Memory in large pages, which an administrator sets aside. */
export const hugePages: Scenario = {
  name: "huge-pages",
  promise: "the node counts the machine's huge pages, and a pod has a directory of them and no more than its limit",
  needs: "qemu",
  run: async (at) => {
    await at.machine.read(RESERVE(PAGES));
    await replaceProcess(at, "agent", "TERM");
    await untilCapacity(at, `${PAGES * PAGE_MIB}Mi`);
    const resources = { limits: { [RESOURCE]: `${LIMIT_MIB}Mi`, memory: "64Mi", cpu: "100m" } };
    await createPod(at, "huge", {
      script: "grep ' /huge ' /proc/mounts; exec sleep 3600",
      container: { resources, volumeMounts: [{ name: "huge", mountPath: "/huge" }] },
      spec: { volumes: [{ name: "huge", emptyDir: { medium: "HugePages" } }], terminationGracePeriodSeconds: 1 },
    });
    const pod = await untilReady(at, "huge");
    const limit = await at.machine.read(`cat ${await readPodCgroup(at, pod)}/hugetlb.2MB.max`);
    expectSame(limit, `${LIMIT_MIB * MIB}`, "hugetlb.2MB.max of the pod");
    const log = await readLog(at, "huge");
    at.note(log);
    expectTrue(/ hugetlbfs .*pagesize=2M/.test(log), `the directory is no hugetlbfs of 2 MiB: ${log}`);
    await deletePods(at, "huge");
    await at.machine.read(RESERVE(0));
    await replaceProcess(at, "agent", "TERM");
    await untilCapacity(at, "0");
  },
};

async function untilCapacity(at: Stage, wanted: string): Promise<void> {
  await until(at, `ask-api GET /api/v1/nodes/${HOST_NAME}`, (text) => {
    const { status }: Node = JSON.parse(text);
    return status?.capacity?.[RESOURCE] === wanted && status.allocatable?.[RESOURCE] === wanted;
  });
}
