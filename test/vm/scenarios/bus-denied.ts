import { createPod, deletePods, untilNodeReady, untilReady } from "./pods.ts";
import { type Scenario, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";
import { HELD, isHeld, PERIODS } from "./shutdown-lock.ts";

const RULE = "/etc/dbus-1/system.d/vm-denied.conf";
const DENIED = `<busconfig><policy user="root"><deny send_destination="org.freedesktop.login1"/></policy></busconfig>`;
const COMPLAINT = "grep -i -e logind -e shutdown /var/lib/nodelet/agent.log | tail -n 1";

/** An administrator's rules for the bus may keep even root from logind. */
export const busDenied: Scenario = {
  name: "bus-denied",
  promise: "where the bus keeps the agent from logind its log says so, pods run, and it has its lock once it may",
  run: async (at) => {
    const change = async (order: string) => await at.machine.read(`${order} && systemctl reload dbus`);
    await change(`echo '${DENIED}' > ${RULE}`);
    try {
      await withKubeletConfiguration(at, PERIODS, async () => {
        at.note(await until(at, COMPLAINT, (line) => /denied|not allowed|rejected/i.test(line)));
        await untilNodeReady(at);
        await createPod(at, "newcomer");
        await untilReady(at, "newcomer");
        await change(`rm ${RULE}`);
        at.note(await until(at, HELD, isHeld));
        await deletePods(at, "newcomer");
      });
    } finally {
      await change(`rm -f ${RULE}`);
    }
  },
};
