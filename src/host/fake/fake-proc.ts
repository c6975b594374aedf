import type { CgroupPressure } from "../cgroups-port.ts";
import { fileError } from "../file-error.ts";
import type { DiskActivity, InterfaceCounters, OpenFiles, Proc, TaskCounts } from "../proc-port.ts";

/** A procfs whose contents a test sets. */
export interface FakeProc extends Proc {
  /** The interfaces by process; those of number 1 are the machine's. */
  readonly interfaces: Map<number, InterfaceCounters[]>;
  /** What processes have open, and how much they may, by process; those that are missing have gone. */
  readonly openByPid: Map<number, { readonly files: OpenFiles; readonly limit: number }>;
  /** How often the open files of processes were counted. */
  counts: number;
  disks: DiskActivity[];
  taskCounts: TaskCounts;
  nodePressure: CgroupPressure;
  bootTime: number | undefined;
  /** They are as a node needs them. */
  readonly tunables: Map<string, number>;
}

const MAX_PROCESSES = 1_024;
const MAX_LINKS = 4_096;

/** The machine has no network. */
export function createFakeProc(): FakeProc {
  const proc: FakeProc = {
    interfaces: new Map(),
    openByPid: new Map(),
    counts: 0,
    disks: [],
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
    async openFiles(pids) {
      proc.counts += 1;
      if (pids.length > MAX_PROCESSES) return undefined;
      const open = pids.flatMap((pid) => proc.openByPid.get(pid)?.files ?? []);
      const descriptors = open.reduce((sum, files) => sum + files.descriptors, 0);
      const sockets = open.reduce((sum, files) => sum + (files.sockets ?? 0), 0);
      return { descriptors, sockets: descriptors > MAX_LINKS ? undefined : sockets };
    },
    openFileLimit: async (pid) => proc.openByPid.get(pid)?.limit,
    diskActivity: async () => proc.disks,
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
