import { createPod, deletePods, readPod, readPodCgroup, untilNodeReady, untilReady } from "./pods.ts";
import { expectSame, expectTrue, type Scenario, type Stage, until } from "./scenario.ts";
import { installService } from "./service.ts";

const MEBIBYTE = 1_048_576;

/** Pods of two QoS classes, and what the kernel has to say of each: the files of its own cgroup, version 2. */
const PODS = [
  {
    name: "guaranteed",
    resources: { requests: { cpu: "250m", memory: "64Mi" }, limits: { cpu: "250m", memory: "64Mi" } },
    files: { "cpu.max": "25000 100000", "memory.max": `${64 * MEBIBYTE}`, "cpu.weight": "10" },
  },
  {
    name: "burstable",
    resources: { requests: { cpu: "100m", memory: "32Mi" }, limits: { cpu: "500m", memory: "128Mi" } },
    files: { "cpu.max": "50000 100000", "memory.max": `${128 * MEBIBYTE}`, "cpu.weight": "4" },
  },
];

/** The first of all: it installs the service that the others need. */
export const installedPackage: Scenario = {
  name: "installed-package",
  promise: "the package runs as a service of systemd, and its pods have their slices and limits",
  run: async (at) => {
    await install(at);
    for (const { name, resources } of PODS) await createPod(at, name, { container: { resources } });
    for (const { name } of PODS) await untilReady(at, name);
    if (at.machine.kind === "qemu") for (const pod of PODS) await expectLimits(at, pod);
    at.note(
      await at.machine.read("systemd-cgls --no-pager -l --xattr=no --cgroup-id=no | grep -v ' /sbin/init$' | head -60"),
    );
    await deletePods(at, ...PODS.map(({ name }) => name));
    await until(at, "find /sys/fs/cgroup -type d -name '*-pod*.slice' | wc -l", (output) => output === "0\n");
  },
};

async function install(at: Stage): Promise<void> {
  const { machine } = at;
  const isStarted = (output: string) =>
    output === "running\n" || (machine.kind === "namespaces" && output === "degraded\n");
  await until(at, "systemctl is-system-running || true", isStarted);
  at.note(
    await machine.read("uname -sr; systemctl --version | head -1; containerd --version; runc --version | head -1"),
  );
  at.note(await installService(at));
  expectSame(await machine.read("systemctl is-active nodelet"), "active", "the state of the service");
  await untilNodeReady(at);
}

async function expectLimits(at: Stage, { name, files }: (typeof PODS)[number]): Promise<void> {
  const directory = await readPodCgroup(at, await readPod(at, name));
  expectTrue(directory.startsWith("/sys/fs/cgroup/nodelet"), `${name} has no slice: "${directory}"`);
  const found = await at.machine.read(
    `cd ${directory}; for f in ${Object.keys(files).join(" ")}; do echo $f $(cat $f); done`,
  );
  const wanted = Object.entries(files).map(([file, value]) => `${file} ${value}`);
  at.note(`${name}: ${found.replaceAll("\n", ", ")}`);
  expectSame(found, wanted.join("\n"), `what the kernel keeps ${name} to`);
}
