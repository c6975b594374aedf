import type { FakeCri } from "../../../src/cri/fake/create-fake-cri.ts";
import type { FakeHost } from "../../../src/host/fake/create-fake-host.ts";
import { fileError } from "../../../src/host/file-error.ts";

/** What a node may run short of: a disk that the pods' directories share with images and layers, or one for these alone. */
export type ScarceName = "memory" | "disk" | "image disk" | "pids";

/** One thing that containers take of the machine, as the node agent reads it there. */
export interface ScarceResource {
  readonly name: ScarceName;
  readonly capacity: number;
  /** What the machine uses without its pods. */
  readonly system: number;
  /** The node agent's own: it acts when less is left. */
  readonly threshold: number;
  /** What a container has that takes no more than others. */
  readonly ordinary: number;
  /** What a container took stays until the container is removed; else until it ends. */
  readonly outlivesProcess: boolean;
  /** As an eviction names it. */
  readonly words: string;
  readonly condition: "MemoryPressure" | "DiskPressure" | "PIDPressure";
  /** Shows on the machine what one container has; undefined for nothing any more. */
  show(containerId: string, amount: number | undefined): void;
  /** Shows what is left of the whole. */
  showLeft(left: number): void;
}

type Machine = Pick<FakeHost, "cgroups" | "machine" | "proc" | "files">;

const MEBIBYTE = 1024 ** 2;
const GIBIBYTE = 1024 ** 3;
const IMAGE_DISK = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs";
/** The configuration that sets the threshold; the defaults have none of processes. */
export const PID_THRESHOLD = "10%";
const MOST_PROCESSES = 1_000;

export function createScarceResource(name: ScarceName, host: Machine, cri: FakeCri): ScarceResource {
  if (name === "memory") return createMemory(host);
  return name === "pids" ? createProcesses(host) : createDisk(name, host, cri);
}

const pathOf = (id: string) => `/sim/${id}`;

function createMemory({ cgroups, machine }: Machine): ScarceResource {
  const capacity = Number(machine.facts.memoryCapacityBytes);
  return {
    ...{ name: "memory", words: "memory", condition: "MemoryPressure", outlivesProcess: false },
    ...{ capacity, system: 512 * MEBIBYTE, threshold: 100 * MEBIBYTE, ordinary: 8 * MEBIBYTE },
    show(id, bytes) {
      if (bytes === undefined) cgroups.delete(pathOf(id));
      else cgroups.set(pathOf(id), { memory: { usage: bytes, workingSet: bytes } });
    },
    showLeft: (left) => cgroups.set("/", { memory: { usage: capacity - left, workingSet: capacity - left } }),
  };
}

function createProcesses({ cgroups, proc }: Machine): ScarceResource {
  const capacity = MOST_PROCESSES;
  return {
    ...{ name: "pids", words: "pids", condition: "PIDPressure", outlivesProcess: false },
    ...{ capacity, system: 100, threshold: capacity / 10, ordinary: 2 },
    show(id, count) {
      if (count === undefined) cgroups.delete(pathOf(id));
      else cgroups.set(pathOf(id), { pids: Array.from({ length: count }, (_, index) => 1_000 + index) });
    },
    showLeft(left) {
      proc.taskCounts = { current: capacity - left, max: capacity };
    },
  };
}

/** Layers alone grow: their size is a number, while a file's is its content. */
function createDisk(name: "disk" | "image disk", { cgroups, machine, files }: Machine, cri: FakeCri): ScarceResource {
  const capacity = 100 * GIBIBYTE;
  const isDedicated = name === "image disk";
  let left = capacity;
  const { stat } = files;
  if (isDedicated) {
    files.stat = async (path) => {
      const status = await stat(path);
      return status && path.startsWith(IMAGE_DISK) ? { ...status, device: "8:16" } : status;
    };
  }
  machine.fileSystemUsage = async (path) => {
    const { fileSystem } = machine.facts;
    if (fileSystem === undefined) throw fileError("ENOENT", "statfs", path);
    const total = BigInt(capacity);
    const available = isDedicated && !path.startsWith(IMAGE_DISK) ? total : BigInt(Math.max(0, left));
    const { inodes } = fileSystem;
    return {
      bytes: { total, available, used: total - available },
      inodes: { total: inodes, available: inodes, used: 0n },
    };
  };
  files.put(`${IMAGE_DISK}/.keep`, "");
  return {
    ...{ name, words: "ephemeral-storage", condition: "DiskPressure", outlivesProcess: true },
    // A tenth of nodefs and three twentieths of imagefs must be left: a disk that is both meets the latter first.
    ...{ capacity, system: 20 * GIBIBYTE, threshold: 15 * GIBIBYTE, ordinary: MEBIBYTE },
    show(id, bytes) {
      // A container without a cgroup would count as one that nobody can measure.
      if (bytes === undefined) cgroups.delete(pathOf(id));
      else cgroups.set(pathOf(id), { memory: { usage: 0, workingSet: 0 } });
      if (bytes !== undefined) cri.setWritableLayer(id, bytes);
    },
    showLeft(now) {
      left = now;
    },
  };
}
