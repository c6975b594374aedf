import type { ContainerState, Pod, PodSpec } from "../../../src/api/gen/types.ts";
import { createPod, deletePods, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { withKubeletConfiguration } from "./service.ts";

const LIMIT = { limits: { memory: "48Mi" } };
/** BusyBox's tail keeps all that could be the last lines, and zeros never end a line. */
const GREEDY = "tail /dev/zero";

/** The kernel's killer, as users meet it most: a container takes more than its limit. */
export const outOfMemory: Scenario = {
  name: "out-of-memory",
  promise:
    "a container and a pod that take more memory than their limit are ended, and the container's status says OOMKilled",
  run: async (at) => {
    const once: Partial<PodSpec> = { restartPolicy: "Never" };
    await createPod(at, "container-limit", { script: GREEDY, container: { resources: LIMIT }, spec: once });
    await createPod(at, "pod-limit", { script: GREEDY, spec: { ...once, resources: LIMIT } });
    await createPod(at, "neighbour", { container: { resources: LIMIT } });
    for (const name of ["container-limit", "pod-limit"]) {
      const { status } = await untilPod(at, name, (pod) => pod.status?.phase === "Failed");
      expectKilled(at, name, status?.containerStatuses?.[0]?.state, name === "container-limit");
    }
    await untilReady(at, "neighbour");
    await deletePods(at, "container-limit", "pod-limit", "neighbour");
  },
};

/** A shell waits for its greedy child. Who is killed with whom is the node's choice, with cgroups of version 2. */
export const groupKill: Scenario = {
  name: "group-kill",
  promise: "with a process all of its container is ended, and with singleProcessOOMKill that process alone",
  needs: "qemu",
  run: async (at) => {
    const script = `while :; do ${GREEDY} > /dev/null; echo "child: $?"; sleep 5; done`;
    const choices = { script, container: { resources: LIMIT }, spec: { terminationGracePeriodSeconds: 1 } };
    await createPod(at, "together", choices);
    const killed = ({ status }: Pod): ContainerState | undefined => status?.containerStatuses?.[0]?.lastState;
    const together = await untilPod(at, "together", (pod) => killed(pod)?.terminated !== undefined);
    expectKilled(at, "together", killed(together));
    await deletePods(at, "together");
    await withKubeletConfiguration(at, "singleProcessOOMKill: true", async () => {
      await createPod(at, "single", choices);
      await untilPod(at, "single", ({ status }) => status?.phase === "Running");
      await until(at, "ask-api GET /api/v1/namespaces/default/pods/single/log", (log) => log.includes("child: 137"));
      const { status } = await untilReady(at, "single");
      expectSame(`${status?.containerStatuses?.[0]?.restartCount}`, "0", "how often the container was begun anew");
      await deletePods(at, "single");
    });
  },
};

/** Before containerd 1.7 the runtime hears of the killer in the container's own cgroup alone, and tells of an error otherwise. */
function expectKilled(at: Stage, name: string, state: ContainerState | undefined, isToldOf = true): void {
  const ended = state?.terminated;
  at.note(`${name}: ${ended?.reason}, exit code ${ended?.exitCode}`);
  if (isToldOf) expectSame(ended?.reason ?? "", "OOMKilled", `the reason of ${name}`);
  expectTrue(ended?.exitCode === 137, `the exit code of ${name} is ${ended?.exitCode}`);
}
