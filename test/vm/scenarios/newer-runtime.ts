import type { Node, Pod, PodSpec, Volume } from "../../../src/api/gen/types.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import { HOST_NAME, NEWER } from "../disk/recipe.ts";
import { createPod, deletePods, readLog, readPid, readPod, untilPod, untilReady, whoRuns } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { untilServiceAnswers } from "./service.ts";
import { readMetrics } from "./statistics.ts";

const BRIEFLY: Partial<PodSpec> = { terminationGracePeriodSeconds: 1 };
const TICKING = "n=0; while :; do n=$((n + 1)); echo tick $n; sleep 1; done";

/** An administrator installs the packages of a newer runtime while pods run. They stay: the scenarios after it want them. */
export const runtimeUpgrade: Scenario = {
  name: "runtime-upgrade",
  promise:
    "containerd 1.7 is replaced by 2.x beneath running pods: none begins anew, and old and new ones do all they did",
  needs: "qemu",
  wants: NEWER.directory,
  run: async (at) => {
    expectTrue(!(await hasNewerRuntime(at)), "the machine has the newer runtime already");
    for (const name of ["lasting", "ticking"])
      await createPod(at, name, { ...(name === "ticking" && { script: TICKING }), spec: BRIEFLY });
    const before = {
      lasting: whoRuns(await untilReady(at, "lasting")),
      ticking: whoRuns(await untilReady(at, "ticking")),
    };
    await useNewerRuntime(at);
    const last = Number(/(\d+)\s*$/.exec(await readLog(at, "ticking"))?.[1]);
    await until(at, "ask-api GET /api/v1/namespaces/default/pods/ticking/log", (log) =>
      log.includes(`tick ${last + 2}\n`),
    );
    for (const name of ["lasting", "ticking"] as const)
      expectSame(whoRuns(await untilReady(at, name)), before[name], `the container of ${name} after the upgrade`);
    await createPod(at, "newcomer", { spec: BRIEFLY });
    await untilReady(at, "newcomer");
    await at.machine.read(`kill -s KILL ${await readPid(at, "lasting")}`);
    await untilPod(at, "lasting", ({ status }) => status?.containerStatuses?.[0]?.restartCount === 1);
    await untilReady(at, "lasting");
    await deletePods(at, "lasting", "ticking", "newcomer");
    await until(at, "pgrep -fc '[c]ontainerd-shim' || true", (count) => count === "0\n");
  },
};

/** What containerd 2 brings, beside user namespaces. */
export const newerRuntime: Scenario = {
  name: "newer-runtime",
  promise:
    "with containerd 2.x there are image volumes, mounts that are read-only to the bottom, and it tells its cgroup driver",
  needs: "qemu",
  wants: NEWER.directory,
  run: async (at) => {
    await useNewerRuntime(at);
    at.note(await at.machine.read("grep -o 'container events come from [^\"]*' /var/lib/nodelet/agent.log | tail -1"));
    await expectImageVolume(at);
    await expectReadOnlyMounts(at);
    const metrics = await readMetrics(at, "/metrics");
    expectTrue(!metrics.includes("kubelet_cri_losing_support"), "the runtime does not tell its cgroup driver");
  },
};

async function hasNewerRuntime({ machine }: Stage): Promise<boolean> {
  return (await machine.read("dpkg-query --show containerd")).startsWith("containerd\t2.");
}

/** Upgrades the runtime as an administrator does, where that was not done yet. */
export async function useNewerRuntime(at: Stage): Promise<void> {
  if (await hasNewerRuntime(at)) return;
  await at.machine.read(`dpkg --install ${NEWER.directory}/*.deb && systemctl restart nodelet`);
  await untilServiceAnswers(at);
  const { status }: Node = JSON.parse(await at.machine.read(`ask-api GET /api/v1/nodes/${HOST_NAME}`));
  at.note(`the node: ${status?.nodeInfo?.containerRuntimeVersion}; ${JSON.stringify(status?.runtimeHandlers)}`);
  expectTrue(
    status?.nodeInfo?.containerRuntimeVersion?.startsWith("containerd://2.") === true,
    "the runtime is the old one",
  );
}

async function expectImageVolume(at: Stage): Promise<void> {
  const log = await readLook(at, "image-volume", {
    script: "ls /image/bin/busybox; touch /image/new 2>&1",
    volume: { name: "v", image: { reference: DEMO_IMAGE, pullPolicy: "Never" } },
    mounts: [{ mountPath: "/image" }],
  });
  expectTrue(log.includes("/image/bin/busybox") && log.includes("Read-only file system"), `the image shows: ${log}`);
}

/** A file system lies in a directory that a pod mounts for reading. */
async function expectReadOnlyMounts(at: Stage): Promise<void> {
  await at.machine.read("mkdir -p /var/vm-tree/inner && mount -t tmpfs tmpfs /var/vm-tree/inner");
  const log = await readLook(at, "read-only", {
    script: "touch /plain/inner/a && echo plain may; touch /bottom/inner/b 2>&1",
    volume: { name: "v", hostPath: { path: "/var/vm-tree" } },
    mounts: [
      { mountPath: "/plain", readOnly: true },
      { mountPath: "/bottom", readOnly: true, recursiveReadOnly: "Enabled" },
    ],
  });
  at.note(log);
  expectTrue(log.includes("plain may") && /bottom.*Read-only file system/.test(log), `the mounts beneath: ${log}`);
  const told = (await readPod(at, "read-only")).status?.containerStatuses?.[0]?.volumeMounts;
  expectTrue(
    JSON.stringify(told).includes('"recursiveReadOnly":"Enabled"'),
    `the status tells ${JSON.stringify(told)}`,
  );
  await deletePods(at, "read-only");
  await at.machine.read("umount /var/vm-tree/inner; rm -r /var/vm-tree");
}

interface Look {
  readonly script: string;
  readonly volume: Volume;
  readonly mounts: ReadonlyArray<{ mountPath: string; readOnly?: boolean; recursiveReadOnly?: string }>;
}

/** The log of a pod that looks at a volume, and ends well. */
async function readLook(at: Stage, name: string, { script, volume, mounts }: Look): Promise<string> {
  const volumeMounts = mounts.map((mount) => ({ name: volume.name, ...mount }));
  const spec: Partial<PodSpec> = { ...BRIEFLY, restartPolicy: "Never", volumes: [volume] };
  await createPod(at, name, { script: `${script}; true`, container: { volumeMounts }, spec });
  await untilPod(at, name, ({ status }: Pod) => status?.phase === "Succeeded");
  return await readLog(at, name);
}
