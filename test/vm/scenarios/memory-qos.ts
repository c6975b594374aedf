import type { Pod, ResourceRequirements } from "../../../src/api/gen/types.ts";
import { quantityValue } from "../../../src/api/quantity.ts";
import { HOST_NAME } from "../disk/recipe.ts";
import { createPod, deletePods, idOfRunning, readPod, readPodCgroup, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";

const MIB = 1_048_576;
const PAGE_BYTES = 4_096;
const THROTTLING_FACTOR = 0.9;
const PROTECTING = "featureGates: { MemoryQoS: true }\nmemoryReservationPolicy: TieredReservation";
const FILES = ["memory.min", "memory.low", "memory.high", "memory.oom.group"];
const bytes = (mebibytes: number) => `${mebibytes * MIB}`;
const high = (request: number, most: number) =>
  `${Math.floor((request + (most - request) * THROTTLING_FACTOR) / PAGE_BYTES) * PAGE_BYTES}`;

const memory = (mebibytes: number) => ({ cpu: "50m", memory: `${mebibytes}Mi` });
const GUARANTEED = { requests: memory(48), limits: memory(48) };
const BURSTABLE = { requests: memory(16), limits: { memory: "64Mi" } };
/** More than `memory.high` of the burstable pod, and less than its limit with what its shell has. */
const WRITTEN_MIB = 100;

/** What the kernel has for a pod and its container: `memory.min`, `memory.low` and `memory.high`, whether all is killed at once. */
const PODS: ReadonlyArray<
  readonly [name: string, ResourceRequirements, pod: string, container: (most: number) => string]
> = [
  ["guaranteed", GUARANTEED, `${bytes(48)} 0 max 0`, () => `${bytes(48)} 0 max 1`],
  ["burstable", BURSTABLE, `0 ${bytes(16)} max 0`, () => `0 ${bytes(16)} ${high(16 * MIB, 64 * MIB)} 1`],
  [
    "without-limit",
    { requests: memory(16) },
    `0 ${bytes(16)} max 0`,
    (most) => `0 ${bytes(16)} ${high(16 * MIB, most)} 1`,
  ],
  // As upstream has it: what asks for nothing is not slowed down, because its request is its limit.
  ["best-effort", {}, "0 0 max 0", () => "0 0 max 1"],
];
const NAMES = PODS.map(([name]) => name);

/** The kernel's own protection and brakes: files of version 2 of cgroups, which no other machine of the tests has. */
export const memoryQos: Scenario = {
  name: "memory-qos",
  promise:
    "with MemoryQoS what pods ask for is protected up to the root, and who takes more is slowed down, not killed",
  needs: "qemu",
  run: async (at) => {
    await withKubeletConfiguration(at, PROTECTING, async () => {
      for (const [name, resources] of PODS) await createPod(at, name, { container: { resources } });
      for (const name of NAMES) await untilReady(at, name);
      await expectFiles(at);
      await expectProtection(at);
      await deletePods(at, ...NAMES);
      await expectBrake(at);
    });
    await createPod(at, "burstable", { container: { resources: BURSTABLE } });
    await untilReady(at, "burstable");
    expectSame(await readFiles(at, await readContainerCgroup(at, "burstable")), "0 0 max 1", "without the gate");
    await deletePods(at, "burstable");
  },
};

async function expectFiles(at: Stage): Promise<void> {
  const node = await at.machine.read(`ask-api GET /api/v1/nodes/${HOST_NAME}`);
  const allocatable = Number(quantityValue(JSON.parse(node).status.allocatable.memory));
  for (const [name, , ofPod, ofContainer] of PODS) {
    const found = await readFiles(at, await readPodCgroup(at, await readPod(at, name)));
    const inside = await readFiles(at, await readContainerCgroup(at, name));
    at.note(`${name}: ${found}, its container: ${inside}`);
    expectSame(found, ofPod, `${FILES.join(", ")} of ${name}`);
    expectSame(inside, ofContainer(allocatable), `${FILES.join(", ")} of the container of ${name}`);
  }
}

/** A cgroup is protected no further than those above it. The add-ons' pods ask for memory as well. */
async function expectProtection(at: Stage): Promise<void> {
  const { items }: { items: readonly Pod[] } = JSON.parse(await at.machine.read("ask-api GET /api/v1/pods"));
  const sum = (qosClass: string) =>
    items
      .filter(({ status }) => status?.qosClass === qosClass && status.phase === "Running")
      .flatMap(({ spec }) => spec?.containers ?? [])
      .reduce((total, { resources }) => total + quantityValue(resources?.requests?.["memory"] ?? "0"), 0n);
  const burstable = await at.machine.read(`dirname ${await readPodCgroup(at, await readPod(at, "burstable"))}`);
  expectSame(await at.machine.read(`cat ${burstable}/memory.low`), `${sum("Burstable")}`, "memory.low of the class");
  const above = await at.machine.read(
    `cd ${burstable}/..; while [ $PWD != /sys/fs/cgroup ]; do echo $(basename $PWD) $(cat memory.min); cd ..; done`,
  );
  at.note(above.replaceAll("\n", ", "));
  for (const line of above.split("\n")) {
    const [name, found] = line.split(" ");
    expectSame(found ?? "", `${sum("Guaranteed") + sum("Burstable")}`, `memory.min of ${name}`);
  }
}

/** What is cached of a file counts as memory, and the kernel takes it back when it slows the writer down. */
async function expectBrake(at: Stage): Promise<void> {
  await createPod(at, "greedy", {
    script: `head -c ${WRITTEN_MIB * MIB} /dev/zero > /scratch/file && echo written; sleep 3600`,
    container: { resources: BURSTABLE, volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] },
    spec: { volumes: [{ name: "scratch", emptyDir: {} }], terminationGracePeriodSeconds: 1 },
  });
  await until(at, "ask-api GET /api/v1/namespaces/default/pods/greedy/log", (log) => log.includes("written"));
  const events = await at.machine.read(`cat ${await readContainerCgroup(at, "greedy")}/memory.events`);
  at.note(`greedy: ${events.replaceAll("\n", ", ")}`);
  expectTrue(/^high [1-9]/m.test(events) && /^oom_kill 0$/m.test(events), "the kernel did not slow the pod down");
  await untilReady(at, "greedy");
  await deletePods(at, "greedy");
}

async function readFiles(at: Stage, directory: string): Promise<string> {
  return await at.machine.read(`cd ${directory} && echo $(cat ${FILES.join(" ")})`);
}

async function readContainerCgroup(at: Stage, name: string): Promise<string> {
  const pod = await untilPod(at, name, (one) => idOfRunning(one) !== undefined);
  const id = idOfRunning(pod)?.replace(/^.*\/\//, "");
  return await at.machine.read(`echo ${await readPodCgroup(at, pod)}/*${id}.scope`);
}
