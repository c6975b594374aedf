import { createPod, deletePods, readPid, untilPod, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage } from "./scenario.ts";

const SAME = { cpu: "100m", memory: "64Mi" };

/** What the kernel does to a process of each QoS class when memory runs out: who ends first has the highest number. */
const CLASSES = [
  { name: "guaranteed", resources: { requests: SAME, limits: SAME }, score: /^-997$/ },
  { name: "burstable", resources: { requests: SAME }, score: /^9\d\d$/ },
  { name: "best-effort", resources: {}, score: /^1000$/ },
];

/** It is the kernel's order of victims. Lowering a score takes a capability, which this machine may lack. */
export const oomScores: Scenario = {
  name: "oom-scores",
  promise: "the kernel's order of victims is that of the QoS classes, and nodelet itself is last",
  needs: "qemu",
  run: async (at) => {
    for (const { name, resources } of CLASSES) await createPod(at, name, { container: { resources } });
    for (const { name, score } of CLASSES) {
      await untilReady(at, name);
      const found = await readInContainer(at, name, "oom_score_adj");
      expectTrue(score.test(found), `oom_score_adj of ${name} is ${found}`);
      at.note(`${name}: ${found}`);
    }
    const own = await at.machine.read("cat /proc/$(systemctl show -p MainPID --value nodelet)/oom_score_adj");
    expectSame(own, "-999", "oom_score_adj of nodelet");
    await deletePods(at, ...CLASSES.map(({ name }) => name));
  },
};

/** Profiles that the kernel enforces, and one that nobody loaded. */
export const securityProfiles: Scenario = {
  name: "security-profiles",
  promise: "the runtime's profiles of AppArmor and seccomp are in force, and a missing one keeps a pod from starting",
  needs: "qemu",
  run: async (at) => {
    const runtimeDefault = { type: "RuntimeDefault" };
    const confined = { appArmorProfile: runtimeDefault, seccompProfile: runtimeDefault };
    await createPod(at, "confined", { spec: { securityContext: confined } });
    await createPod(at, "unloaded", {
      spec: { securityContext: { appArmorProfile: { type: "Localhost", localhostProfile: "nobody-loaded-this" } } },
    });
    await untilReady(at, "confined");
    expectSame(
      await readInContainer(at, "confined", "attr/current"),
      "cri-containerd.apparmor.d (enforce)",
      "the AppArmor profile",
    );
    const seccomp = await readInContainer(at, "confined", "status");
    expectTrue(/^Seccomp:\s*2$/m.test(seccomp), "seccomp filters nothing");
    const pod = await untilPod(
      at,
      "unloaded",
      ({ status }) =>
        status?.containerStatuses?.[0]?.state?.waiting?.reason === "CreateContainerError" || status?.phase === "Failed",
    );
    const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
    at.note(
      `unloaded: ${pod.status?.phase}, ${waiting?.reason ?? pod.status?.reason}, ${waiting?.message ?? pod.status?.message}`,
    );
    await deletePods(at, "confined", "unloaded");
  },
};

/** Reads a file of /proc about the first process of the pod's container. */
async function readInContainer(at: Stage, name: string, file: string): Promise<string> {
  return await at.machine.read(`cat /proc/${await readPid(at, name)}/${file}`);
}
