import type { CgroupPressure } from "../cgroups-port.ts";
import type { InterfaceCounters, Proc, TaskCounts } from "../proc-port.ts";

/** A procfs whose contents a test sets. */
export interface FakeProc extends Proc {
  /** The interfaces by process; those of number 1 are the machine's. */
  readonly interfaces: Map<number, InterfaceCounters[]>;
  taskCounts: TaskCounts;
  nodePressure: CgroupPressure;
  bootTime: number | undefined;
}

/** The machine has no network. */
export function createFakeProc(): FakeProc {
  const proc: FakeProc = {
    interfaces: new Map(),
    taskCounts: { current: 100, max: 32_768 },
    nodePressure: {},
    bootTime: Date.UTC(2026, 0, 1),
    interfacesOf: async (pid) => proc.interfaces.get(pid),
    tasks: async () => proc.taskCounts,
    pressure: async () => proc.nodePressure,
    bootedAt: async () => proc.bootTime,
  };
  return proc;
}
