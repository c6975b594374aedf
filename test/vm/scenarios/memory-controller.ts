import type { Pod } from "../../../src/api/gen/types.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, readPod, readPodCgroup, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { startAnew } from "./service.ts";
import { readSummary } from "./statistics.ts";

const MEBIBYTE = 1_048_576;
const AMOUNTS = { cpu: "100m", memory: "64Mi" };
const LIMITED = { requests: AMOUNTS, limits: AMOUNTS };
/** It asks for memory, and may have as much as there is. */
const PLAIN = { requests: AMOUNTS, limits: { cpu: "100m" } };
/** What the firmware of a Raspberry Pi tells the kernel, and what it has to be told there. */
const OFF = "cgroup_disable=memory";
const MEND = "cgroup_enable=memory cgroup_memory=1";

/** Small machines whose kernel leaves out what takes memory itself. */
export const memoryController: Scenario = {
  name: "memory-controller",
  promise:
    "without the kernel's memory controller pods run, those with a limit of memory say what the kernel lacks, and no statistics are made up",
  needs: "qemu",
  run: async (at) => {
    await createPod(at, "limited", { container: { resources: LIMITED } });
    await createPod(at, "plain", { container: { resources: PLAIN } });
    for (const name of ["limited", "plain"]) await untilReady(at, name);
    await startAnew(at, [OFF]);
    expectSame(await at.machine.read("grep -cw memory /sys/fs/cgroup/cgroup.controllers || true"), "0", "controllers");
    const messageOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state?.waiting?.message ?? "";
    // What ran before waits between its attempts, and its status tells of that.
    const events = "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=limited";
    await until(at, `ask-api GET '${events}'`, (text) => text.includes(MEND));
    await createPod(at, "refused", { container: { resources: LIMITED } });
    const refused = await untilPod(at, "refused", (pod) => messageOf(pod).includes(MEND));
    at.note(`refused: ${messageOf(refused)}`);
    await untilReady(at, "plain");
    await createPod(at, "newcomer");
    await untilReady(at, "newcomer");
    await expectWords(at);
    await expectStatistics(at);
    await deletePods(at, "newcomer", "refused");
    await startAnew(at, []);
    for (const name of ["limited", "plain"]) await untilReady(at, name);
    const cgroup = await readPodCgroup(at, await readPod(at, "limited"));
    expectSame(await at.machine.read(`cat ${cgroup}/memory.max`), `${64 * MEBIBYTE}`, "the limit that is back");
    await deletePods(at, "limited", "plain");
  },
};

/** The administrator is told before anything fails, and once. */
async function expectWords({ machine, note }: Stage): Promise<void> {
  const doctor = await machine.read(`nodelet doctor | grep -A 2 -w cgroups`);
  note(doctor);
  expectTrue(doctor.includes(OFF) && doctor.includes(MEND), "doctor does not tell what the kernel has to be told");
  const log = await machine.read("grep -i 'memory controller' /var/lib/nodelet/agent.log | tail -n 1");
  note(log);
  expectTrue(log.includes(MEND), "the log of the node agent does not tell it");
  const events = await machine.read(`ask-api GET '/api/v1/events?fieldSelector=involvedObject.name=${HOST_NAME}'`);
  expectTrue(!events.includes("FailedNodeAllocatableEnforcement"), "a limit was tried that the kernel does not have");
}

/** The machine's memory is known, and that of no pod: it is left out rather than told as 0. */
async function expectStatistics(at: Stage): Promise<void> {
  const { node, pods } = await readSummary(
    at,
    (summary) => summary.pods.find(({ podRef }) => podRef.name === "plain")?.cpu?.usageNanoCores !== undefined,
  );
  const used = await at.machine.read("free -b | awk '$1 == \"Mem:\" { print $2 - $7 }'");
  at.note(`the node: ${JSON.stringify(node.memory)}; by the kernel ${used} are in use`);
  const told = node.memory?.workingSetBytes ?? 0;
  expectTrue(told > Number(used) / 2 && told < Number(used) * 2, "the node's memory is not what the kernel tells");
  for (const { podRef, memory, containers } of pods)
    expectSame(
      JSON.stringify([memory, ...containers.map((container) => container.memory)].filter(Boolean)),
      "[]",
      `the memory of ${podRef.name}`,
    );
}
