import { mkdirSync } from "node:fs";
import { codeOf } from "../../../base/errors.ts";
import type { CgroupLimits } from "../../cgroup-tree-port.ts";
import { computeCpuWeight } from "../../cpu-weight.ts";
import { parseNumber, readKernelFile } from "./kernel-files.ts";
import { writeIfPresent, writeKernelFile, writeMemoryLimit } from "./write-kernel-file.ts";

/** The controllers that hold pods to their limits (upstream: `getSupportedUnifiedControllers`). */
const NEEDED = ["cpu", "cpuset", "hugetlb", "memory", "pids"];
const DEFAULT_PERIOD_MICROSECONDS = 100_000n;

/** Returns upstream's words, which follow the cgroup's name; undefined when the cgroup is there. */
export function findLackV2(root: string, path: string): string | undefined {
  const available = readNames(`${root}/cgroup.controllers`) ?? [];
  const enabled = readNames(`${root}${path}/cgroup.controllers`);
  if (enabled === undefined) return `has no controllers: ${root}${path} does not exist`;
  const missing = NEEDED.filter((name) => available.includes(name) && !enabled.includes(name));
  return missing.length === 0 ? undefined : `has some missing controllers: ${missing.join(", ")}`;
}

/**
 * Makes the cgroup level by level, because a controller is there for a cgroup only if each cgroup above hands it down.
 */
export function makeCgroupV2(root: string, path: string): void {
  const controllers = readNames(`${root}/cgroup.controllers`) ?? [];
  let directory = root;
  for (const name of path.split("/").filter((part) => part !== "")) {
    handDown(directory, controllers);
    directory = `${directory}/${name}`;
    try {
      mkdirSync(directory);
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
  }
}

/** A controller that cannot be handed down is missed only when one of its limits is set. */
function handDown(directory: string, controllers: readonly string[]): void {
  const file = `${directory}/cgroup.subtree_control`;
  const given = readNames(file) ?? [];
  const missing = controllers.filter((name) => !given.includes(name)).map((name) => `+${name}`);
  if (missing.length === 0) return;
  try {
    writeKernelFile(file, missing.join(" "));
  } catch (refusal) {
    if (["EROFS", "EACCES", "EPERM"].includes(codeOf(refusal) ?? "")) throw refusal;
    for (const each of missing) {
      try {
        writeKernelFile(file, each);
      } catch {
        // A controller that is refused must not keep the others away.
      }
    }
  }
}

/** Does what `CgroupTree.limit` says. */
export async function limitCgroupV2(directory: string, limits: CgroupLimits): Promise<void> {
  const { cpuShares, cpuQuotaMicroseconds: quota = 0n, cpuPeriodMicroseconds: period = 0n } = limits;
  if (cpuShares !== undefined) writeKernelFile(`${directory}/cpu.weight`, `${computeCpuWeight(cpuShares)}`);
  if (quota !== 0n || period !== 0n) {
    const most = quota > 0n ? `${quota}` : "max";
    writeKernelFile(`${directory}/cpu.max`, `${most} ${period || DEFAULT_PERIOD_MICROSECONDS}`);
  }
  if (limits.memoryBytes) {
    const used = parseNumber(readKernelFile(`${directory}/memory.current`));
    await writeMemoryLimit(`${directory}/memory.max`, limits.memoryBytes, used);
  }
  if (limits.memoryMin !== undefined) writeKernelFile(`${directory}/memory.min`, `${limits.memoryMin}`);
  if (limits.memoryLow !== undefined) writeKernelFile(`${directory}/memory.low`, `${limits.memoryLow}`);
  if (limits.maxTasks !== undefined) writeKernelFile(`${directory}/pids.max`, `${limits.maxTasks || 1n}`);
  for (const [size, bytes] of limits.hugepages ?? []) {
    // The kernel may know page sizes that its controller does not count.
    if (!writeIfPresent(`${directory}/hugetlb.${size}.max`, `${bytes}`)) continue;
    writeIfPresent(`${directory}/hugetlb.${size}.rsvd.max`, `${bytes}`);
  }
}

function readNames(path: string): string[] | undefined {
  return readKernelFile(path)
    ?.split(/\s+/)
    .filter((name) => name !== "");
}
