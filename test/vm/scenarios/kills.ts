import { createPod, deletePods, untilNodeReady, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, type Stage } from "./scenario.ts";
import { type PROCESSES, readRunningTasks, replaceProcess } from "./service.ts";

/** Who is killed. The runtime starts anew with `up`, and on some machines it then ends its pods, which begin again. */
const VICTIMS: readonly { name: keyof typeof PROCESSES; isWithRuntime: boolean }[] = [
  { name: "agent", isWithRuntime: false },
  { name: "control plane", isWithRuntime: false },
  { name: "up", isWithRuntime: true },
];

/** Nobody is asked before, and nothing is told to end. */
export const kills: Scenario = {
  name: "kills",
  promise: "agent, control plane and up come back after kill -9, and pods run on in the same containers",
  run: async (at) => {
    await createPod(at, "lasting");
    const before = whoRuns(await untilReady(at, "lasting"));
    const tasks = await readRunningTasks(at);
    for (const { name, isWithRuntime } of VICTIMS) {
      await replaceProcess(at, name, "KILL");
      await expectWork(at);
      const now = whoRuns(await untilReady(at, "lasting"));
      const tasksNow = await readRunningTasks(at);
      at.note(`${name}: ${now}`);
      expectSame(`${tasksNow.length}`, `${tasks.length}`, `the number of what runs after the kill of ${name}`);
      if (isWithRuntime && !at.machine.keepsShims) continue;
      expectSame(now, before, `the pod's container after the kill of ${name}`);
      expectSame(tasksNow.join(), tasks.join(), `what runs after the kill of ${name}`);
    }
    await deletePods(at, "lasting");
  },
};

/** A pod of its own starts and ends: a status that says "ready" may be one of before. */
async function expectWork(at: Stage): Promise<void> {
  await untilNodeReady(at);
  await createPod(at, "newcomer");
  await untilReady(at, "newcomer");
  await deletePods(at, "newcomer");
}
