import type { Pod } from "../../../src/api/gen/types.ts";
import { composePod, createPod, deletePods, idOfRunning, untilPod, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { MANIFESTS, readRunningTasks, untilServiceAnswers } from "./service.ts";

/** A whole stop and start of the machine, as an administrator orders it. */
export const reboot: Scenario = {
  name: "reboot",
  promise: "after systemctl reboot the service starts by itself, and pods of API and manifests run again, once each",
  run: async (at) => {
    const { machine } = at;
    await createPod(at, "lasting");
    await writeStaticPod(at);
    const names = ["lasting", "static-machine"];
    const before: Pod[] = [];
    for (const name of names) before.push(await untilReady(at, name));
    await machine.run("systemctl reboot");
    await machine.untilStarted();
    await untilServiceAnswers(at);
    for (const pod of before) {
      const name = pod.metadata?.name ?? "";
      const isOther = (now: Pod) => idOfRunning(now) !== undefined && idOfRunning(now) !== idOfRunning(pod);
      await untilPod(at, name, isOther);
      const now = await untilReady(at, name);
      at.note(`${name}: ${whoRuns(pod)}, then ${whoRuns(now)}`);
      expectSame(now.metadata?.uid ?? "", pod.metadata?.uid ?? "", `the UID of ${name}`);
    }
    const tasks = await readRunningTasks(at);
    expectTrue(tasks.length === 2 * names.length, `not two processes for each pod: ${tasks.join(" ")}`);
    await machine.read(`rm ${MANIFESTS}/static.yaml`);
    await deletePods(at, "lasting");
    await until(at, "ask-api GET /api/v1/namespaces/default/pods", (output) => !output.includes("static-machine"));
  },
};

async function writeStaticPod({ machine }: Stage): Promise<void> {
  await machine.read(`cat > ${MANIFESTS}/static.yaml <<'EOF'\n${JSON.stringify(composePod("static"))}\nEOF`);
}
