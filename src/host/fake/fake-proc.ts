import type { CgroupPressure } from "../cgroups-port.ts";
import { fileError } from "../file-error.ts";
import type { InterfaceCounters, Proc, TaskCounts } from "../proc-port.ts";

/** A procfs whose contents a test sets. */
export interface FakeProc extends Proc {
  /** The interfaces by process; those of number 1 are the machine's. */
  readonly interfaces: Map<number, InterfaceCounters[]>;
  taskCounts: TaskCounts;
  nodePressure: CgroupPressure;
  bootTime: number | undefined;
  /** They are as a node needs them. */
  readonly tunables: Map<string, number>;
}

/** The machine has no network. */
export function createFakeProc(): FakeProc {
  const proc: FakeProc = {
    interfaces: new Map(),
    taskCounts: { current: 100, max: 32_768 },
    nodePressure: {},
    bootTime: Date.UTC(2026, 0, 1),
    tunables: new Map([
      ["kernel/keys/root_maxbytes", 25_000_000],
      ["kernel/keys/root_maxkeys", 1_000_000],
      ["kernel/panic", 10],
      ["kernel/panic_on_oops", 1],
      ["vm/overcommit_memory", 1],
      ["vm/panic_on_oom", 0],
    ]),
    interfacesOf: async (pid) => proc.interfaces.get(pid),
    tasks: async () => proc.taskCounts,
    pressure: async () => proc.nodePressure,
    bootedAt: async () => proc.bootTime,
    tunable: async (name) => proc.tunables.get(name),
    async setTunable(name, value) {
      if (!proc.tunables.has(name)) throw fileError("ENOENT", "open", `/proc/sys/${name}`);
      proc.tunables.set(name, value);
    },
  };
  return proc;
}
