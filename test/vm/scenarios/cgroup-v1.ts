import { createPod, deletePods, readPod, untilReady } from "./pods.ts";
import { expectSame, type Scenario, type Stage, until } from "./scenario.ts";
import { startAnew } from "./service.ts";

/** What an administrator tells the kernel for systemd's sake; systemd 256 and newer want the second word, too. */
const LEGACY = ["systemd.unified_cgroup_hierarchy=0", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1"];
const MEBIBYTE = 1_048_576;
const LIMITS = { cpu: "250m", memory: "64Mi" };
/** Files of the kernel, by the hierarchy that they are of. */
const FILES = {
  "cpu,cpuacct/cpu.cfs_quota_us": "25000",
  "cpu,cpuacct/cpu.shares": "256",
  "memory/memory.limit_in_bytes": `${64 * MEBIBYTE}`,
};

/** A machine whose administrator has kept version 1 of cgroups, where systemd runs it. */
export const cgroupV1: Scenario = {
  name: "cgroup-v1",
  promise: "on a machine that is switched to version 1 of cgroups pods run on, and have their slices and limits there",
  needs: "qemu",
  run: async (at) => {
    await createPod(at, "guaranteed", { container: { resources: { requests: LIMITS, limits: LIMITS } } });
    await untilReady(at, "guaranteed");
    await startAnew(at, LEGACY);
    expectSame(await at.machine.read("stat -fc %T /sys/fs/cgroup"), "tmpfs", "the file system of cgroups");
    await untilReady(at, "guaranteed");
    await expectLimits(at);
    await deletePods(at, "guaranteed");
    await until(at, "find /sys/fs/cgroup -type d -name '*-pod*.slice' | wc -l", (count) => count === "0\n");
    await startAnew(at, []);
    expectSame(await at.machine.read("stat -fc %T /sys/fs/cgroup"), "cgroup2fs", "the file system of cgroups");
  },
};

async function expectLimits(at: Stage): Promise<void> {
  const uid = ((await readPod(at, "guaranteed")).metadata?.uid ?? "").replaceAll("-", "_");
  for (const [file, wanted] of Object.entries(FILES)) {
    const [hierarchy, name] = file.split("/");
    const found = await at.machine.read(
      `cat $(find /sys/fs/cgroup/${hierarchy} -type d -name '*pod${uid}.slice')/${name}`,
    );
    at.note(`${file}: ${found}`);
    expectSame(found, wanted, `${file} of the pod`);
  }
}
