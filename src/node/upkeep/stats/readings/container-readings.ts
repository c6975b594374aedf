import type { Clock } from "../../../../base/clock.ts";
import type { MountEntry, Mounts } from "../../../../host/mounts-port.ts";
import type { Machine, MachineParts } from "../../../../host/port.ts";
import type { Proc } from "../../../../host/proc-port.ts";
import type { PodRuntimeStatus } from "../../../runtime/reading/pod-runtime-status.ts";
import type { CadvisorInput, MachineInput } from "../metrics/cadvisor-metrics.ts";
import type { NodeStats } from "../node-stats.ts";
import { findMountedDevice } from "./mounted-device.ts";

interface ContainerReadingsDeps {
  readonly clock: Pick<Clock, "now">;
  readonly machine: Pick<Machine, "cpuCount" | "identity" | "parts">;
  readonly mounts: Pick<Mounts, "list">;
  readonly proc: Pick<Proc, "diskActivity">;
  readonly stats: Pick<NodeStats, "constants" | "readings">;
  readonly cache: { latest(podUid: string): PodRuntimeStatus | undefined };
}

/** The input of the page `/metrics/cadvisor`, as a whole or without pods and containers. */
interface ContainerReadings {
  /** When the mounts cannot be listed, no device has a name. */
  readAll(signal: AbortSignal): Promise<CadvisorInput>;
  readMachine(): Promise<MachineInput>;
}

export function createContainerReadings({
  clock,
  machine,
  mounts,
  proc,
  stats,
  cache,
}: ContainerReadingsDeps): ContainerReadings {
  const imageOf = (podUid: string, containerId: string) =>
    cache.latest(podUid)?.containers.find(({ id }) => id === containerId)?.image ?? "";
  const readParts = createPartsReader(machine);
  const readFacts = async () => ({
    ...(await machine.identity()),
    ...(await readParts()),
    cpuCores: machine.cpuCount(),
  });
  return {
    async readAll(signal) {
      const [readings, facts, entries] = await Promise.all([
        stats.readings(signal),
        readFacts(),
        mounts.list().catch((): MountEntry[] => []),
      ]);
      return {
        readings,
        machine: facts,
        imageOf,
        deviceOf: (path) => findMountedDevice(entries, path),
        diskActivity: await proc.diskActivity(),
        now: clock.now(),
      };
    },
    readMachine: async () => ({ machine: await readFacts(), node: await stats.constants() }),
  };
}

/** A machine's parts change with the number of its processors, if at all. */
function createPartsReader(machine: Pick<Machine, "cpuCount" | "parts">): () => Promise<MachineParts> {
  let known: { readonly cpus: number; readonly parts: MachineParts } | undefined;
  return async () => {
    const cpus = machine.cpuCount();
    if (known?.cpus === cpus) return known.parts;
    const parts = await machine.parts();
    known = { cpus, parts };
    return parts;
  };
}
