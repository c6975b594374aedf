import type { CgroupPressure } from "./cgroups-port.ts";

/** The kernel's counts of the machine as a whole, and of processes, as procfs shows them. */
export interface Proc {
  /**
   * The interfaces of the network that the process is in, as the kernel lists them; undefined when the process has
   * gone.
   */
  interfacesOf(pid: number): Promise<InterfaceCounters[] | undefined>;
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
