import type { Clock } from "../../../../base/clock.ts";
import type { MountEntry, Mounts } from "../../../../host/mounts-port.ts";
import type { Machine } from "../../../../host/port.ts";
import type { PodRuntimeStatus } from "../../../runtime/reading/pod-runtime-status.ts";
import type { CadvisorInput } from "../metrics/cadvisor-metrics.ts";
import type { NodeStats } from "../node-stats.ts";
import { findMountSource } from "./mount-source.ts";

interface ContainerReadingsDeps {
  readonly clock: Pick<Clock, "now">;
  readonly machine: Pick<Machine, "cpuCount" | "identity">;
  readonly mounts: Pick<Mounts, "list">;
  readonly stats: Pick<NodeStats, "readings">;
  readonly cache: { latest(podUid: string): PodRuntimeStatus | undefined };
}

/** Reads the input of the page `/metrics/cadvisor`. When the mounts cannot be listed, no device has a name. */
export function createContainerReadings({ clock, machine, mounts, stats, cache }: ContainerReadingsDeps) {
  const imageOf = (podUid: string, containerId: string) =>
    cache.latest(podUid)?.containers.find(({ id }) => id === containerId)?.image ?? "";
  return async (signal: AbortSignal): Promise<CadvisorInput> => {
    const [readings, identity, entries] = await Promise.all([
      stats.readings(signal),
      machine.identity(),
      mounts.list().catch((): MountEntry[] => []),
    ]);
    return {
      readings,
      machine: { ...identity, cpuCores: machine.cpuCount() },
      imageOf,
      deviceOf: (path) => findMountSource(entries, path),
      now: clock.now(),
    };
  };
}
