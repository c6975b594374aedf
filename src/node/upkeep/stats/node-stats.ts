import { untilAborted } from "../../../base/abort.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { createSharedCalls } from "../../../base/shared-calls.ts";
import type { Machine } from "../../../host/port.ts";
import type { Proc } from "../../../host/proc-port.ts";
import type { StorageUsageReader } from "./readings/read-storage.ts";
import type { UsageOptions, UsageReader } from "./readings/read-usage.ts";
import type { StorageSnapshot } from "./readings/storage-snapshot.ts";
import type { UsageSnapshot } from "./readings/usage-snapshot.ts";
import { computeSummary, type NodeConstants } from "./summary/compute-summary.ts";
import type { Summary } from "./summary/summary.ts";

/** Tells what the node and its pods use. Callers who ask at the same time, or a moment later, get the same values. */
export interface NodeStats {
  /** The complete summary. Rejects with AbortedError, and otherwise only when the kernel counts nothing. */
  summary(signal: AbortSignal): Promise<Summary>;
  /** The summary of processors, memory and swap only. It asks the kernel; the runtime only about containers without cgroups. */
  cpuAndMemory(signal: AbortSignal): Promise<Summary>;
  /** The kernel's counters without rates, so that the caller does not wait for a second reading. */
  counters(signal: AbortSignal): Promise<UsageSnapshot>;
  /** The raw readings, with the details of the cgroups. */
  readings(signal: AbortSignal): Promise<NodeReadings>;
  /** What does not change while the node agent runs. */
  constants(): Promise<NodeConstants>;
  /** Disks are measured for callers only while this runs. */
  run(signal: AbortSignal): Promise<void>;
}

/** The readings from which everything else is computed. */
export interface NodeReadings {
  readonly node: NodeConstants;
  readonly usage: UsageSnapshot;
  readonly storage: StorageSnapshot;
}

interface NodeStatsDeps {
  readonly clock: Clock;
  readonly machine: Pick<Machine, "memoryCapacityBytes" | "swapCapacityBytes">;
  readonly proc: Pick<Proc, "tasks" | "bootedAt">;
  readonly usage: UsageReader;
  readonly storage: StorageUsageReader;
}

/** `rootDirectory` is `--root-dir`. */
interface NodeStatsOptions {
  readonly nodeName: string;
  readonly rootDirectory: string;
}

/** Readings are shared for this long. A caller who asks more often gets the same values as one who asks each second. */
const SHARED_MS = SECOND;

export function createNodeStats(deps: NodeStatsDeps, options: NodeStatsOptions): NodeStats {
  const { clock, machine, proc } = deps;
  const startedAt = clock.now();
  const readUsage = createSharedUsage(deps);

  const readNode = async (): Promise<NodeConstants> => {
    const [memory, swap, bootedAt] = await Promise.all([
      machine.memoryCapacityBytes(),
      machine.swapCapacityBytes(),
      proc.bootedAt(),
    ]);
    const capacities = { memoryCapacityBytes: Number(memory), swapCapacityBytes: Number(swap) };
    return { ...options, ...capacities, bootedAt, startedAt };
  };
  const readStorage = async ({ pods }: UsageSnapshot, signal: AbortSignal) => {
    const reading = deps.storage.read(pods.map(({ pod }) => pod));
    return await untilAborted(reading, signal);
  };

  return {
    async summary(signal) {
      const [node, usage] = await Promise.all([readNode(), readUsage({ details: false, rates: true }, signal)]);
      const [storage, counts] = await Promise.all([readStorage(usage, signal), proc.tasks()]);
      return computeSummary({ node, usage, rest: { storage, tasks: { ...counts, at: clock.now() } } });
    },
    async cpuAndMemory(signal) {
      const [node, usage] = await Promise.all([readNode(), readUsage({ details: false, rates: true }, signal)]);
      return computeSummary({ node, usage, rest: undefined });
    },
    counters: async (signal) => await readUsage({ details: false, rates: false }, signal),
    async readings(signal) {
      const [node, usage] = await Promise.all([readNode(), readUsage({ details: true, rates: false }, signal)]);
      return { node, usage, storage: await readStorage(usage, signal) };
    },
    constants: readNode,
    run: deps.storage.run,
  };
}

/** Makes only one reading of each kind at a time, and remembers it for `SHARED_MS`. */
function createSharedUsage({ clock, usage }: Pick<NodeStatsDeps, "clock" | "usage">) {
  const calls = createSharedCalls<UsageSnapshot>();
  const latest = new Map<string, { readonly snapshot: UsageSnapshot; readonly at: number }>();
  return async (options: UsageOptions, signal: AbortSignal): Promise<UsageSnapshot> => {
    const key = JSON.stringify(options);
    const known = latest.get(key);
    if (known !== undefined && clock.monotonic() - known.at < SHARED_MS) return known.snapshot;
    return await calls.join(key, signal, async (inner) => {
      const snapshot = await usage.read(options, inner);
      latest.set(key, { snapshot, at: clock.monotonic() });
      return snapshot;
    });
  };
}
