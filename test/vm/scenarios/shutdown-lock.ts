import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess, withKubeletConfiguration } from "./service.ts";

/** Pods of a priority below 1000 end first. */
export const PERIODS = `shutdownGracePeriodByPodPriority:
- { priority: 0, shutdownGracePeriodSeconds: 40 }
- { priority: 1000, shutdownGracePeriodSeconds: 40 }`;
/** Prints the lock, if the agent has it. */
export const HELD = "systemd-inhibit --list --no-legend | grep kubelet || true";
export const isHeld = (output: string) => /kubelet.*shutdown.*delay/.test(output);

/** The lock is what makes logind wait. A logind whose bus was started anew does not come back to it by itself. */
export const shutdownLock: Scenario = {
  name: "shutdown-lock",
  promise: "the lock on the machine's shutdown outlives logind, D-Bus and the agent itself",
  run: async (at) => {
    await withKubeletConfiguration(at, PERIODS, async () => {
      at.note(await until(at, HELD, isHeld));
      const delay = await at.machine.read(
        "busctl get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager InhibitDelayMaxUSec",
      );
      expectSame(delay, "t 80000000", "how long logind waits at most");
      for (const units of [["systemd-logind"], ["dbus", "systemd-logind"]]) {
        for (const unit of units) await at.machine.read(`systemctl restart ${unit}`);
        await untilListening(at, units.join(" and "));
      }
      await replaceProcess(at, "agent", "KILL");
      await untilListening(at, "the agent");
    });
    await until(at, HELD, (output) => output === "");
  },
};

/** After a restart of something in between it is not enough that the lock is there: a shutdown must be heard of too. */
async function untilListening(at: Stage, after: string): Promise<void> {
  await until(at, HELD, isHeld);
  await until(
    at,
    "pgrep -f 'busctl --system --json=short .*PrepareForShutdown' > /dev/null && systemctl is-active systemd-logind",
    (output) => output === "active\n",
  );
  at.note(`after ${after}: ${await at.machine.read(HELD)}`);
}
