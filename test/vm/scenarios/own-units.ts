import { expectSame, type Scenario } from "./scenario.ts";
import { PROCESSES } from "./service.ts";

const UNITS = { agent: "agent", "control plane": "control-plane" } as const;

/** Who is who on the machine, in systemd's own view. */
export const ownUnits: Scenario = {
  name: "own-units",
  promise: "agent and control plane have units of their own, apart from that of the service",
  run: async (at) => {
    const service = await at.machine.read("systemctl show --property=ControlGroup --value nodelet");
    expectSame(service, "/system.slice/nodelet.service", "the cgroup of the service");
    for (const [name, unit] of Object.entries(UNITS)) {
      const script = name === "agent" ? PROCESSES.agent : PROCESSES["control plane"];
      const cgroup = await at.machine.read(`grep -E '^(0::|1:name=systemd:)/.' /proc/$(${script})/cgroup | tail -1`);
      const found = /nodelet\.slice\/nodelet-([a-z-]+)-[0-9a-f]{8}\.scope/.exec(cgroup)?.[1] ?? cgroup;
      at.note(`${name}: ${cgroup}`);
      expectSame(found, unit, `the unit of the ${name}`);
    }
  },
};
