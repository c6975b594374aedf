import type { CgroupPressure } from "./cgroups-port.ts";

/** The kernel's counts of the machine as a whole, and of processes, as procfs shows them. */
export interface Proc {
  /**
   * The interfaces of the network that the process is in, as the kernel lists them; undefined when the process has
   * gone.
   */
  interfacesOf(pid: number): Promise<InterfaceCounters[] | undefined>;
  /**
   * Counts what the processes have open. A process that has gone has nothing open. Undefined for more than 1,024
   * processes, because each costs a look at all of its files.
   */
  openFiles(pids: readonly number[]): Promise<OpenFiles | undefined>;
  /** How many files the process may open, the soft limit; -1 without a limit, undefined when the process has gone. */
  openFileLimit(pid: number): Promise<number | undefined>;
  /** What the block devices did since they are there; empty where the kernel does not tell. */
  diskActivity(): Promise<DiskActivity[]>;
  tasks(): Promise<TaskCounts>;
  /** The pressure on all tasks of the machine; empty where the kernel does not tell. */
  pressure(): Promise<CgroupPressure>;
  /** When the machine was started, milliseconds since the epoch; undefined where the kernel does not tell. */
  bootedAt(): Promise<number | undefined>;
  /** A setting of the kernel, as in `vm/overcommit_memory`; undefined where it has none of that name that is a number. */
  tunable(name: string): Promise<number | undefined>;
  /** Rejects as the kernel does: without the right to, and where there is no such setting. */
  setTunable(name: string, value: number): Promise<void>;
}

/** The counters begin when the interface is made. */
export interface InterfaceCounters {
  readonly name: string;
  readonly received: TrafficCounters;
  readonly sent: TrafficCounters;
}

/** The counters of one direction. */
export interface TrafficCounters {
  readonly bytes: number;
  readonly packets: number;
  readonly errors: number;
  readonly dropped: number;
}

/** Processes and threads; undefined where the kernel does not tell. */
export interface TaskCounts {
  readonly current: number | undefined;
  /** The smaller of the two limits of the machine. */
  readonly max: number | undefined;
}

/** What processes have open. */
export interface OpenFiles {
  readonly descriptors: number;
  /** Undefined with more than 4,096 descriptors, because each costs a call of the kernel. */
  readonly sockets: number | undefined;
}

/** The counters of a block device or of a partition. A sector has 512 bytes. */
export interface DiskActivity {
  /** `/dev/sda1` */
  readonly device: string;
  /** `8:1` */
  readonly numbers: string;
  readonly reads: DiskOperations;
  readonly writes: DiskOperations;
  /** The number of operations that have begun and not ended. */
  readonly current: number;
  /** The time during which any operation was under way. */
  readonly busyMilliseconds: number;
  /** The same, each operation counted for itself. */
  readonly weightedMilliseconds: number;
}

/** The operations of one direction that have ended. */
interface DiskOperations {
  readonly count: number;
  /** How many were joined with others before the device saw them. */
  readonly merged: number;
  readonly sectors: number;
  readonly milliseconds: number;
}
