import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { codeOf } from "../../../base/errors.ts";
import type { CgroupLimits } from "../../cgroup-tree-port.ts";
import { parseNumber, readKernelFile } from "./kernel-files.ts";
import { writeIfPresent, writeKernelFile, writeMemoryLimit } from "./write-kernel-file.ts";

/**
 * The controllers that containers are put in (`subsystems` of libcontainer's fs/fs.go). Other hierarchies are not the
 * node agent's.
 */
const CONTROLLERS = new Set([
  ..."cpuset devices memory cpu cpuacct pids blkio hugetlb net_cls net_prio perf_event freezer rdma misc".split(" "),
  // These two have no controller: systemd's own hierarchy, and version 2 mounted beside version 1.
  "systemd",
  "unified",
]);

/** A cgroup counts as existing only with these controllers (upstream: `Validate` of cm/cgroup_v1_manager_linux.go). */
const NEEDED = new Set(["cpu", "cpuacct", "cpuset", "memory", "systemd", "pids", "hugetlb"]);

/** A machine must have these controllers (upstream: `validateSystemRequirements` of cm/container_manager_linux.go). */
const MOUNTED = ["cpu", "cpuacct", "cpuset", "memory"];

/** The hierarchies of version 1 that are mounted beneath a directory, each by its controllers. */
export interface HierarchiesV1 {
  /** The directories of the hierarchies. */
  readonly directories: readonly string[];
  findLack(path: string): string | undefined;
  make(path: string): void;
  limit(path: string, limits: CgroupLimits): Promise<void>;
}

/**
 * Reads the directory once, because hierarchies are mounted when the machine starts. Throws where the directory is
 * absent.
 */
export function readHierarchiesV1(root: string): HierarchiesV1 {
  // Controllers that share a hierarchy are links to it: `cpu` and `cpuacct` lead to `cpu,cpuacct`.
  const names = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.split(",").some((part) => CONTROLLERS.has(part)))
    .map(({ name }) => name)
    // systemd leaves empty directories for hierarchies that it could not mount, as in a container.
    .filter((name) => existsSync(`${root}/${name}/cgroup.procs`));
  const directories = names.map((name) => `${root}/${name}`);
  const directoryOf = (controller: string) => {
    const index = names.findIndex((name) => name.split(",").includes(controller));
    return index < 0 ? undefined : directories[index];
  };
  const needed = [...NEEDED].map(directoryOf).filter((directory) => directory !== undefined);
  const unmounted = MOUNTED.filter((controller) => directoryOf(controller) === undefined);
  const cpuset = directoryOf("cpuset");
  const places = { cpu: directoryOf("cpu"), memory: directoryOf("memory"), pids: directoryOf("pids") };
  const hugetlb = directoryOf("hugetlb");
  return {
    directories,
    findLack(path) {
      if (unmounted.length > 0) {
        const words = "system validation failed - Following Cgroup subsystem not mounted";
        return `cannot be: ${words}: [${unmounted.join(" ")}]`;
      }
      const missing = [...new Set(needed)]
        .map((directory) => `${directory}${path}`)
        .filter((each) => !existsSync(each));
      return missing.length === 0 ? undefined : `has some missing paths: ${missing.join(", ")}`;
    },
    make(path) {
      for (const directory of directories) {
        const isNew = makeDirectory(directory, path);
        if (directory === cpuset)
          for (const file of CPUSET_FILES) inheritFile({ hierarchy: cpuset, path, file, isNew });
      }
    },
    async limit(path, limits) {
      const at = (controller: keyof typeof places) => {
        const directory = places[controller];
        if (directory === undefined) throw new Error(`cannot set ${controller} limit: no such controller is mounted`);
        return `${directory}${path}`;
      };
      if (limits.cpuShares !== undefined) writeKernelFile(`${at("cpu")}/cpu.shares`, `${limits.cpuShares}`);
      if (limits.cpuQuotaMicroseconds || limits.cpuPeriodMicroseconds) setQuota(at("cpu"), limits);
      if (limits.memoryBytes) {
        const used = parseNumber(readKernelFile(`${at("memory")}/memory.usage_in_bytes`));
        await writeMemoryLimit(`${at("memory")}/memory.limit_in_bytes`, limits.memoryBytes, used);
      }
      if (limits.maxTasks !== undefined) writeKernelFile(`${at("pids")}/pids.max`, `${limits.maxTasks || 1n}`);
      if (hugetlb !== undefined) setHugepages(`${hugetlb}${path}`, limits);
    },
  };
}

/**
 * Returns whether it was not there. Node.js' own way of making parents says `ENOENT` where the file system is read-only. It
 * is made synchronously, as files of cgroups are read and written: all of it is in the kernel's memory.
 */
function makeDirectory(hierarchy: string, path: string): boolean {
  try {
    mkdirSync(`${hierarchy}${path}`);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (code !== "ENOENT" || parent === "") throw error;
    makeDirectory(hierarchy, parent);
    return makeDirectory(hierarchy, path);
  }
}

/**
 * The kernel refuses the new period while the old quota does not fit it. It accepts the period once the new quota is in
 * force.
 */
function setQuota(
  directory: string,
  { cpuQuotaMicroseconds: quota, cpuPeriodMicroseconds: period }: CgroupLimits,
): void {
  let isPeriodSet = !period;
  if (period) {
    try {
      writeKernelFile(`${directory}/cpu.cfs_period_us`, `${period}`);
      isPeriodSet = true;
    } catch (error) {
      if (codeOf(error) !== "EINVAL" || !quota) throw error;
    }
  }
  if (!quota) return;
  writeKernelFile(`${directory}/cpu.cfs_quota_us`, `${quota}`);
  if (!isPeriodSet) writeKernelFile(`${directory}/cpu.cfs_period_us`, `${period}`);
}

function setHugepages(directory: string, { hugepages = new Map() }: CgroupLimits): void {
  for (const [size, bytes] of hugepages) {
    writeKernelFile(`${directory}/hugetlb.${size}.limit_in_bytes`, `${bytes}`);
    writeIfPresent(`${directory}/hugetlb.${size}.rsvd.limit_in_bytes`, `${bytes}`);
  }
}

const CPUSET_FILES = ["cpuset.cpus", "cpuset.mems"];

interface CpusetFile {
  hierarchy: string;
  path: string;
  file: string;
  /** Default: it is looked whether it has values. */
  isNew?: boolean;
}

/**
 * A new cpuset names no processors and no memory, and no process may enter it. It gets the values of its parent, which this
 * returns.
 */
function inheritFile({ hierarchy, path, file, isNew = false }: CpusetFile): string {
  const own = isNew ? "" : (readKernelFile(`${hierarchy}${path}/${file}`)?.trim() ?? "");
  if (own !== "" || path === "") return own;
  const inherited = inheritFile({ hierarchy, path: path.slice(0, path.lastIndexOf("/")), file });
  if (inherited !== "") writeIfPresent(`${hierarchy}${path}/${file}`, inherited);
  return inherited;
}
