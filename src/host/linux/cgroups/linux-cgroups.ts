import { existsSync } from "node:fs";
import type { Cgroups } from "../../cgroups-port.ts";
import { findCgroups } from "./find-cgroups.ts";
import { readKernelFile } from "./kernel-files.ts";
import { createLinuxCgroupTree } from "./linux-cgroup-tree.ts";
import { openMemoryMarks } from "./linux-memory-marks.ts";
import { createPauses } from "./pauses.ts";
import { readCgroupV1 } from "./read-v1.ts";
import { readCgroupV2, readPressureV2 } from "./read-v2.ts";

/** The defaults are the places of the kernel's file systems. */
interface LinuxCgroupsOptions {
  /** Where the hierarchies are mounted. */
  readonly root?: string;
  readonly proc?: string;
  /** Where block devices are shown by their numbers. */
  readonly devices?: string;
}

/**
 * Reads both versions. On a machine that has both mounted it reads version 1, whose controllers are the ones in use
 * there.
 */
export function createLinuxCgroups({
  root = "/sys/fs/cgroup",
  proc = "/proc",
  devices = "/sys/dev/block",
}: LinuxCgroupsOptions = {}): Cgroups {
  const isUnified = existsSync(`${root}/cgroup.controllers`);
  const pause = createPauses();
  return {
    ...createLinuxCgroupTree(root, isUnified),
    async find(ids) {
      const memoryOnly = !isUnified && !existsSync(`${root}/cpuacct`);
      const hierarchy = isUnified ? root : `${root}/${memoryOnly ? "memory" : "cpuacct"}`;
      return await findCgroups(hierarchy, ids, pause);
    },
    async read(path, { details = false } = {}) {
      await pause();
      const beneath = path === "/" ? "" : path;
      return isUnified
        ? readCgroupV2(`${root}${beneath}`, { details, proc, devices })
        : readCgroupV1(root, beneath, { details, devices });
    },
    pressure: async (path) => (isUnified ? readPressureV2(`${root}${path}`) : {}),
    openMemoryMarks: () => (isUnified || !existsSync(`${root}/memory`) ? undefined : openMemoryMarks(`${root}/memory`)),
    own: async () => parseOwn(readKernelFile(`${proc}/self/cgroup`) ?? "", isUnified),
  };
}

/**
 * Finds the own path in the lines of `/proc/self/cgroup`, as upstream's `getContainer` does
 * (pkg/kubelet/cm/container_manager_linux.go).
 */
function parseOwn(text: string, isUnified: boolean): string | undefined {
  const paths = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, controllers = "", path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path !== undefined) for (const controller of controllers.split(",")) paths.set(controller, path);
  }
  if (isUnified) return paths.get("");
  const cpu = paths.get("cpu");
  return cpu === paths.get("memory") ? cpu : undefined;
}
