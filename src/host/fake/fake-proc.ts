import type { CgroupPressure } from "../cgroups-port.ts";
import type { InterfaceCounters, Proc, TaskCounts } from "../proc-port.ts";

/** What a test lets procfs say. */
export interface FakeProc extends Proc {
  /** By process; that of number 1 is the machine's. */
  readonly interfaces: Map<number, InterfaceCounters[]>;
  taskCounts: TaskCounts;
  nodePressure: CgroupPressure;
  bootTime: number | undefined;
}

/** A machine without a network. */
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
