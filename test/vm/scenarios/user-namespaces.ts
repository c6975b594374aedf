import type { Pod, PodSpec } from "../../../src/api/gen/types.ts";
import { NEWER, POD_IDS } from "../disk/recipe.ts";
import { useNewerRuntime } from "./newer-runtime.ts";
import { createPod, deletePods, readLog, readPid, untilPod, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { replaceProcess } from "./service.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const OWN_USERS: Partial<PodSpec> = { hostUsers: false, terminationGracePeriodSeconds: 1 };
const WAIT = "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done";

/** Before 2.0 containerd does not tell of user namespaces, and would run such a pod with the machine's users. */
export const userNamespacesRefused: Scenario = {
  name: "no-user-namespaces",
  promise: "a pod that wants users of its own does not start on containerd 1.7, and says why",
  needs: "qemu",
  run: async (at) => {
    await createPod(at, "own-users", { spec: OWN_USERS });
    const words = "can't set `spec.hostUsers: false`, runtime does not support user namespaces";
    const events = await until(at, "ask-api GET /api/v1/namespaces/default/events", (text) => text.includes(words));
    expectTrue(events.includes("FailedCreatePodSandBox"), "the event has another reason");
    const pod = await untilPod(at, "own-users", ({ status }) => status?.phase === "Pending");
    at.note(`own-users: ${pod.status?.phase}, ${pod.status?.containerStatuses?.[0]?.state?.waiting?.reason}`);
    await deletePods(at, "own-users");
  },
};

/** Root in the pod is nobody on the machine. */
export const userNamespaces: Scenario = {
  name: "user-namespaces",
  promise:
    "each pod with hostUsers: false has 65,536 IDs of the kubelet's range for itself and reads and writes its volumes",
  needs: "qemu",
  wants: NEWER.directory,
  run: async (at) => {
    await useNewerRuntime(at);
    await at.machine.read(`ask-api POST ${SECRETS} <<'EOF'\n${JSON.stringify(SECRET)}\nEOF`);
    const names = ["first", "second", "third"];
    for (const name of names) await createOwnUsers(at, name);
    const before = [];
    for (const name of names) before.push(await describe(at, await untilReady(at, name), name));
    at.note(before.join("\n"));
    expectApart(before);
    await expectVolumes(at, "first");
    await replaceProcess(at, "agent", "KILL");
    await createOwnUsers(at, "fourth");
    const fourth = await describe(at, await untilReady(at, "fourth"), "fourth");
    for (const [index, name] of names.entries())
      expectSame(await describe(at, await untilReady(at, name), name), before[index] ?? "", `${name} after kill -9`);
    expectApart([...before, fourth]);
    await expectUnmasked(at);
    await deletePods(at, ...names, "fourth");
    await at.machine.read(`ask-api DELETE ${SECRETS}/vm-users; rm -rf /var/vm-users`);
  },
};

const SECRET = { metadata: { name: "vm-users" }, stringData: { word: "mellon" } };

/** Root of the pod reads a secret that is root's alone, and writes. */
async function createOwnUsers(at: Stage, name: string): Promise<void> {
  const script = `id -u; cat /secret/word; echo; echo by-root > /scratch/root && ls -ln /scratch; ${WAIT}`;
  const volumes = [
    { name: "secret", secret: { secretName: SECRET.metadata.name, defaultMode: 0o400 } },
    { name: "scratch", emptyDir: {} },
    { name: "memory", emptyDir: { medium: "Memory" } },
    { name: "host", hostPath: { path: "/var/vm-users", type: "DirectoryOrCreate" } },
  ];
  const volumeMounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  await createPod(at, name, { script, container: { volumeMounts }, spec: { ...OWN_USERS, volumes } });
}

/** Which container runs, and whose IDs it has. */
async function describe(at: Stage, pod: Pod, name: string): Promise<string> {
  const pid = await readPid(at, name);
  const map = await at.machine.read(`tr -s ' ' < /proc/${pid}/uid_map; tr -s ' ' < /proc/${pid}/gid_map`);
  const [uids = "", gids] = map.split("\n").map((line) => line.trim());
  expectSame(gids ?? "", uids, `the groups of ${name}`);
  const owner = await at.machine.read(`stat -c %u /proc/${pid}`);
  expectSame(owner, uids.split(" ")[1] ?? "", `the machine's user that runs ${name}`);
  return `${whoRuns(pod)}: ${uids}`;
}

/** No two have an ID in common, and all IDs are of the range. */
function expectApart(described: readonly string[]): void {
  const starts = described.map((one) => {
    const [, first, length] = /: 0 (\d+) (\d+)$/.exec(one) ?? [];
    expectSame(length ?? one, `${POD_IDS.idsPerPod}`, "the number of a pod's IDs");
    return Number(first);
  });
  expectSame(`${new Set(starts).size}`, `${starts.length}`, "the number of ranges");
  for (const start of starts)
    expectTrue(
      start >= POD_IDS.first &&
        start < POD_IDS.first + POD_IDS.pods * POD_IDS.idsPerPod &&
        start % POD_IDS.idsPerPod === 0,
      `${start} is none of the range's`,
    );
}

/** On the machine they are root's: the mount shows them as the pod's. */
async function expectVolumes(at: Stage, name: string): Promise<void> {
  const log = await readLog(at, name);
  at.note(log);
  expectTrue(log.startsWith("0\nmellon\n"), `root of the pod cannot read its secret: ${log}`);
  expectTrue(/ 0 +0 .* root$/m.test(log), `root of the pod does not own what it has written: ${log}`);
  const uid = (await untilReady(at, name)).metadata?.uid;
  const volume = `/var/lib/kubelet/pods/${uid}/volumes/kubernetes.io~empty-dir/scratch`;
  expectSame(await at.machine.read(`stat -c %u:%g ${volume}/root`), "0:0", "the owner of a file on the machine");
  const root = `/proc/${await readPid(at, name)}/root`;
  for (const place of ["memory", "host"]) await at.machine.read(`ls ${root}/${place}`);
}

/** The kernel lets a user namespace see all of /proc, and so may the pod's container. */
async function expectUnmasked(at: Stage): Promise<void> {
  const script = "grep -c ' /proc/' /proc/mounts; true";
  for (const procMount of ["Default", "Unmasked"])
    await createPod(at, `proc-${procMount.toLowerCase()}`, {
      script,
      container: { securityContext: { procMount } },
      spec: { ...OWN_USERS, restartPolicy: "Never" },
    });
  const counts = [];
  for (const name of ["proc-default", "proc-unmasked"]) {
    await untilPod(at, name, ({ status }) => status?.phase === "Succeeded");
    counts.push(Number(await readLog(at, name)));
  }
  at.note(`mounts over /proc: ${counts.join(", unmasked ")}`);
  expectTrue((counts[0] ?? 0) > 0 && counts[1] === 0, "procMount: Unmasked leaves mounts over /proc");
  await deletePods(at, "proc-default", "proc-unmasked");
}
