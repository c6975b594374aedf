import { createPod, deletePods, untilNodeReady, untilReady, whoRuns } from "./pods.ts";
import { expectSame, type Scenario, until } from "./scenario.ts";
import { untilServiceAnswers } from "./service.ts";

/** More than certificates are valid for. */
const DAYS = 400;

/** A machine without a clock of its own starts anywhere in time, and is told the time later. */
export const clockSet: Scenario = {
  name: "clock-set",
  promise:
    "pods run on when the clock is set a year ahead and back, and certificates that are out of their time are made anew",
  needs: "qemu",
  run: async (at) => {
    await createPod(at, "lasting");
    const before = whoRuns(await untilReady(at, "lasting"));
    for (const change of [`+${DAYS} days`, `-${DAYS} days`]) {
      at.note(await at.machine.read(`date --set '${change}'`));
      // The client's certificate of before has expired, or is not valid yet.
      await until(at, "rm -f /run/vm/client-*; ask-api GET /readyz; true", (output) => output === "ok");
      await untilServiceAnswers(at);
      await untilNodeReady(at);
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      await deletePods(at, "newcomer");
      expectSame(whoRuns(await untilReady(at, "lasting")), before, `the pod's container after ${change}`);
    }
    await deletePods(at, "lasting");
  },
};
