import { isAbort, untilAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { HangGuard } from "../../../base/hang-guard.ts";
import type { Log } from "../../../base/log.ts";
import type { EvictionSignal } from "../../../config/eviction-thresholds.ts";
import type { Cgroups } from "../../../host/cgroups-port.ts";
import type { FileSystemUsage, Machine } from "../../../host/port.ts";
import type { Proc } from "../../../host/proc-port.ts";
import type { AllocatableMemory } from "./allocatable-memory.ts";
import type { DiskLayout } from "./disk-layout.ts";
import type { SignalObservation, SignalObservations } from "./signals.ts";

/** Reads how much of each resource is left. */
export interface SignalReader {
  /**
   * Reads all signals. A signal that cannot be read is missing, and the log reports it. Rejects with AbortedError only.
   */
  read(layout: DiskLayout | undefined, signal: AbortSignal): Promise<SignalObservations>;
}

interface SignalReaderDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly cgroups: Pick<Cgroups, "read">;
  readonly machine: Pick<Machine, "memoryCapacityBytes" | "fileSystemUsage">;
  readonly proc: Pick<Proc, "tasks">;
  /** Guards against disks that do not answer. */
  readonly guard: Pick<HangGuard, "run">;
  /**
   * Reads the memory of all pods. The result is undefined where pods have no common cgroup, or where that has no limit.
   */
  readAllocatableMemory(): Promise<AllocatableMemory | undefined>;
}

/** A disk that takes longer is left out of this reading, because memory cannot wait for it. */
const DISK_TIMEOUT_MS = 2 * SECOND;

type Amounts = Omit<SignalObservation, "at">;
type Entry = readonly [EvictionSignal, Amounts];

/**
 * Asks only the kernel, and nothing about pods, so that a look costs little and never shows outdated values. The values
 * are the same as those that the summary API gives for the node (`makeSignalObservations`,
 * pkg/kubelet/eviction/helpers.go).
 */
export function createSignalReader(deps: SignalReaderDeps): SignalReader {
  const { clock, cgroups, machine, proc, guard } = deps;
  /** The readings that fail now. Each is logged once, until it works again. */
  const failing = new Set<string>();

  const attempt = async (what: string, read: () => Promise<readonly Entry[]>): Promise<readonly Entry[]> => {
    try {
      const entries = await read();
      failing.delete(what);
      return entries;
    } catch (error) {
      if (isAbort(error)) throw error;
      if (!failing.has(what)) {
        deps.log.warn("Eviction manager: no observation found for eviction signal", {
          of: what,
          error: messageOf(error),
        });
      }
      failing.add(what);
      return [];
    }
  };

  const readMemory = async (): Promise<Entry[]> => {
    const [root, total] = await Promise.all([cgroups.read("/"), machine.memoryCapacityBytes()]);
    if (root?.memory === undefined) throw new Error("the kernel does not count the machine's memory");
    const capacity = Number(total);
    const { usage, workingSet } = root.memory;
    const available = Math.max(0, capacity - workingSet);
    return [["memory.available", { available, capacity, reclaimable: usage - workingSet }]];
  };

  const readAllocatable = async (): Promise<Entry[]> => {
    const memory = await deps.readAllocatableMemory();
    if (memory === undefined) return [];
    const { limit, usage, workingSet } = memory;
    const available = Math.max(0, limit - workingSet);
    const amounts = { available, capacity: available + workingSet, reclaimable: usage - workingSet };
    return [["allocatableMemory.available", amounts]];
  };

  const readTasks = async (): Promise<Entry[]> => {
    const { current, max } = await proc.tasks();
    if (current === undefined || max === undefined) throw new Error("the kernel does not count processes");
    return [["pid.available", { available: Math.max(0, max - current), capacity: max }]];
  };

  const readDisk = async (path: string, names: readonly DiskName[], signal: AbortSignal): Promise<Entry[]> => {
    const answer = guard.run(path, DISK_TIMEOUT_MS, async () => await machine.fileSystemUsage(path));
    const usage = await untilAborted(answer, signal);
    return names.flatMap((name) => describeDisk(name, usage));
  };

  return {
    async read(layout, signal) {
      const disks = layout === undefined ? [] : [...groupDisks(layout)];
      const groups = await Promise.all([
        attempt("memory", readMemory),
        attempt("memory of all pods", readAllocatable),
        attempt("processes", readTasks),
        ...disks.map(async ([path, names]) => attempt(path, async () => await readDisk(path, names, signal))),
      ]);
      const at = clock.monotonic();
      return new Map(groups.flat().map(([signalName, amounts]) => [signalName, { ...amounts, at }]));
    },
  };
}

type DiskName = "nodefs" | "imagefs" | "containerfs";

/** Groups the names by disk, so that each disk is asked once. */
function groupDisks({ nodeFs, imageFs, containerFs }: DiskLayout): Map<string, DiskName[]> {
  const byPath = new Map<string, DiskName[]>();
  const add = (name: DiskName, path: string) => byPath.set(path, [...(byPath.get(path) ?? []), name]);
  add("nodefs", nodeFs);
  add("imagefs", imageFs);
  add("containerfs", containerFs);
  return byPath;
}

/**
 * Describes a disk. A file system with a total of 0 inodes makes inodes as it needs them, so it cannot run short of
 * them.
 */
function describeDisk(name: DiskName, { bytes, inodes }: FileSystemUsage): Entry[] {
  const amounts = ({ available, total }: FileSystemUsage["bytes"]): Amounts => {
    return { available: Number(available), capacity: Number(total) };
  };
  const ofBytes: Entry = [`${name}.available`, amounts(bytes)];
  return inodes.total > 0n ? [ofBytes, [`${name}.inodesFree`, amounts(inodes)]] : [ofBytes];
}
