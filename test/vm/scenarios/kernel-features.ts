import { createPod, deletePods, readLog, readPid, untilPod, untilReady } from "./pods.ts";
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

const PROFILE = "vm-no-tmp";
const SECCOMP = "/var/lib/kubelet/seccomp/vm/no-mkdir.json";
/** What an administrator loads into the kernel, and puts where the node agent looks. */
const LOAD = `set -e; apparmor_parser --replace <<'EOF'
profile ${PROFILE} flags=(attach_disconnected) { file, signal, deny /tmp/** w, }
EOF
mkdir -p $(dirname ${SECCOMP}); cat > ${SECCOMP} <<'EOF'
{ "defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{ "names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO" }] }
EOF`;
const UNLOAD = `echo 'profile ${PROFILE} {}' | apparmor_parser --remove; rm -r $(dirname ${SECCOMP})`;

/** Profiles that the kernel enforces, the runtime's and an administrator's, and one that nobody loaded. */
export const securityProfiles: Scenario = {
  name: "security-profiles",
  promise:
    "profiles of AppArmor and seccomp are in force, the runtime's and one's own, and a missing one keeps a pod from starting",
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
    await expectOwnProfiles(at);
    await deletePods(at, "confined", "unloaded");
  },
};

/** The pod may do all but what each of the two forbids. */
async function expectOwnProfiles(at: Stage): Promise<void> {
  await at.machine.read(LOAD);
  const localhost = (localhostProfile: string) => ({ type: "Localhost", localhostProfile });
  const securityContext = { appArmorProfile: localhost(PROFILE), seccompProfile: localhost("vm/no-mkdir.json") };
  const script = "mkdir /made || echo no-mkdir; echo > /tmp/file || echo no-tmp; echo > /file && echo written";
  await createPod(at, "own", { script, spec: { securityContext, restartPolicy: "Never" } });
  await untilPod(at, "own", ({ status }) => ["Succeeded", "Failed"].includes(status?.phase ?? ""));
  const log = await readLog(at, "own");
  at.note(log);
  for (const line of ["no-mkdir", "no-tmp", "written"])
    expectTrue(log.split("\n").includes(line), `the pod does not say ${line}`);
  await deletePods(at, "own");
  await at.machine.read(UNLOAD);
}

/** Reads a file of /proc about the first process of the pod's container. */
async function readInContainer(at: Stage, name: string, file: string): Promise<string> {
  return await at.machine.read(`cat /proc/${await readPid(at, name)}/${file}`);
}
