import { createPod, deletePods, untilNodeReady, untilPod, untilReady } from "./pods.ts";
import { expectSame, type Scenario, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";
import { HELD, isHeld, PERIODS } from "./shutdown-lock.ts";

/** logind finds only at the end that systemd does not take the order: it refuses at once where the target is masked. */
const DROP_IN = "/run/systemd/system/poweroff.target.d";
const REFUSE = `mkdir -p ${DROP_IN} && printf '[Unit]\\nRefuseManualStart=yes\\n' > ${DROP_IN}/refuse.conf && systemctl daemon-reload`;
const ALLOW = `rm -r ${DROP_IN} && systemctl daemon-reload`;

/** An administrator switches the machine off, and systemd finds that it cannot be done. */
export const shutdownCalledOff: Scenario = {
  name: "shutdown-called-off",
  promise: "after a shutdown that does not come about the node has its lock again, is ready and takes pods",
  run: async (at) => {
    await withKubeletConfiguration(at, PERIODS, async () => {
      await until(at, HELD, isHeld);
      await createPod(at, "ended");
      await untilReady(at, "ended");
      await at.machine.read(REFUSE);
      try {
        at.note((await at.machine.run("systemctl poweroff")).output);
        const { status } = await untilPod(at, "ended", (pod) => pod.status?.phase === "Failed");
        expectSame(status?.reason ?? "", "Terminated", "the reason of the pod");
        at.note(await until(at, HELD, isHeld));
        await untilNodeReady(at);
      } finally {
        await at.machine.read(ALLOW);
      }
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      await deletePods(at, "ended", "newcomer");
    });
  },
};
