import { createPod, deletePods, readPid, untilReady } from "./pods.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess, startAnew, withKubeletConfiguration } from "./service.ts";

/** The machine has two processors, and runs on one of them unless the kernel is told this. */
const TWO = "maxcpus=2";
const POLICY = 'cpuManagerPolicy: static\nreservedSystemCPUs: "0"';
/** As upstream's, an agent does not start with the state of another policy. */
const FORGET = "rm -f /var/lib/kubelet/cpu_manager_state";
const ONE = { cpu: "1", memory: "32Mi" };

/** What the kernel lets a container run on is what the manager of processors has decided. */
export const exclusiveCpus: Scenario = {
  name: "exclusive-cpus",
  promise:
    "a Guaranteed pod has a processor for itself while it runs, also after kill -9 of the agent, and others get it back",
  needs: "qemu",
  run: async (at) => {
    await startAnew(at, [TWO]);
    await at.machine.read(FORGET);
    await withKubeletConfiguration(at, POLICY, async () => {
      await createPod(at, "shared");
      await untilReady(at, "shared");
      await untilRunsOn(at, "shared", "0-1");
      await createPod(at, "exclusive", { container: { resources: { requests: ONE, limits: ONE } } });
      await untilReady(at, "exclusive");
      await untilRunsOn(at, "exclusive", "1");
      await untilRunsOn(at, "shared", "0");
      await replaceProcess(at, "agent", "KILL");
      await createPod(at, "newcomer");
      await untilReady(at, "newcomer");
      await untilRunsOn(at, "newcomer", "0");
      await untilRunsOn(at, "exclusive", "1");
      await deletePods(at, "exclusive");
      for (const name of ["shared", "newcomer"]) await untilRunsOn(at, name, "0-1");
      await deletePods(at, "shared", "newcomer");
      await at.machine.read(FORGET);
    });
    await startAnew(at, []);
    expectSame(await at.machine.read("nproc"), "1", "the machine's processors");
  },
};

/** The list is the kernel's own, of the first process of the pod's container. */
async function untilRunsOn(at: Stage, name: string, processors: string): Promise<void> {
  const pid = await readPid(at, name);
  await until(
    at,
    `sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/${pid}/status`,
    (list) => list.trim() === processors,
  );
  at.note(`${name} runs on ${processors}`);
}
