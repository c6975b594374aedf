import { createHangGuard } from "../../../../base/hang-guard.ts";
import { silentLog } from "../../../../base/log.ts";
import { type ContainerStats, ImageFsInfoResponse, ListContainerStatsResponse } from "../../../../cri/gen/cri-v1.ts";
import { createFakeHost, type FakeHost } from "../../../../host/fake/create-fake-host.ts";
import type { FileSystemUsage } from "../../../../host/port.ts";
import type { RuntimePod } from "../../../runtime/reading/pod-runtime-status.ts";
import { createNodeVolumes, type NodeVolumesWriter } from "../../../storage/volumes/stats/node-volumes.ts";
import type { VolumeReport } from "../../../storage/volumes/stats/volume-stats.ts";
import { createNodeStats, type NodeStats } from "../node-stats.ts";
import { createStorageUsageReader } from "../readings/read-storage.ts";
import { createUsageReader, type UsageReader } from "../readings/read-usage.ts";
import type { SandboxStats } from "../readings/sandbox-stats.ts";

export const MIB = 1024 * 1024;
export const ROOT = "/var/lib/kubelet";
export const LOGS = "/var/log/pods";
const SNAPSHOTS = "/var/lib/containerd/snapshots";
/** The time when all sandboxes and containers were created. */
export const CREATED = Date.UTC(2025, 11, 31);

/** A node with one pod: a sandbox `sandbox-of-web` and a container `c1`. */
export interface StatsWorld {
  readonly host: FakeHost;
  readonly pods: Map<string, RuntimePod>;
  readonly volumes: NodeVolumesWriter;
  readonly usage: UsageReader;
  readonly stats: NodeStats;
  /** The runtime's statistics, by container id. `asked` lists the questions that it and the disks were asked. */
  readonly runtimeStats: Map<string, Partial<ContainerStats>>;
  readonly asked: string[];
  /** The cgroups of the daemons, as an operator names them; empty at first. */
  readonly daemons: { kubeletCgroup: string; systemCgroup: string; runtimeCgroup: string };
  /** Reports about the volumes of the pod's claims. */
  readonly reports: VolumeReport[];
  /** The file systems, by path. A function may never answer. */
  readonly fileSystems: Map<string, () => Promise<FileSystemUsage>>;
  /** Ends a reading that waits for its second sample, by advancing the clock. */
  read<T>(reading: Promise<T>): Promise<T>;
  end(): Promise<void>;
}

/** Returns a file system of this many MiB with as many inodes, of which a quarter is used. */
export function fileSystemOf(mebibytes: number): FileSystemUsage {
  const total = BigInt(mebibytes * MIB);
  const inodes = BigInt(mebibytes);
  return {
    bytes: { total, available: (total / 4n) * 3n, used: total / 4n },
    inodes: { total: inodes, available: (inodes / 4n) * 3n, used: inodes / 4n },
  };
}

export function runtimePod(
  name: string,
  containers: ReadonlyArray<{ id: string; state?: "running" | "exited" }>,
): RuntimePod {
  const made = { attempt: 0, createdAt: CREATED };
  return {
    uid: `uid-${name}`,
    name,
    namespace: "shop",
    sandboxes: [{ ...made, id: `sandbox-of-${name}`, state: "ready" }],
    containers: containers.map(({ id, state = "running" }) => ({
      ...made,
      id,
      name: `name-of-${id}`,
      state,
      sandboxId: `sandbox-of-${name}`,
    })),
  };
}

/** The statistics run until `end`. */
export function createStatsWorld(
  options: {
    volumePeriodMs?: number;
    cgroupOfAllPods?: string;
    sandboxStats?: SandboxStats;
    /** Where the runtime keeps the containers' layers. Default: with the images. */
    layers?: string;
  } = {},
): StatsWorld {
  const { volumePeriodMs = 60_000, cgroupOfAllPods, sandboxStats, layers } = options;
  const host = createFakeHost();
  const { clock, cgroups, proc, files, machine } = host;
  const pods = new Map([["uid-web", runtimePod("web", [{ id: "c1" }])]]);
  const runtimeStats: StatsWorld["runtimeStats"] = new Map();
  const asked: string[] = [];
  const reports: VolumeReport[] = [];
  const fileSystems: StatsWorld["fileSystems"] = new Map([
    [ROOT, async () => fileSystemOf(1_000)],
    [SNAPSHOTS, async () => fileSystemOf(2_000)],
  ]);
  const runtime = {
    async listContainerStats() {
      asked.push("listContainerStats");
      const stats = [...runtimeStats].map(([id, stat]) => ({ attributes: { id }, ...stat }));
      return ListContainerStatsResponse.fromPartial({ stats });
    },
  };
  const daemons = { kubeletCgroup: "", systemCgroup: "", runtimeCgroup: "" };
  const usage = createUsageReader(
    {
      ...{ clock, log: silentLog, cgroups, proc, runtime, sandboxStats },
      runtimePods: () => pods,
      cgroupOfAllPods: () => cgroupOfAllPods,
    },
    daemons,
  );
  const volumes = createNodeVolumes();
  const storage = createStorageUsageReader(
    {
      clock,
      log: silentLog,
      files,
      machine: {
        async fileSystemUsage(path) {
          asked.push(`statfs ${path}`);
          return await (fileSystems.get(path) ?? (async () => fileSystemOf(10)))();
        },
      },
      guard: createHangGuard({ clock, maxHung: 2 }),
      runtime,
      images: {
        async imageFsInfo() {
          asked.push("imageFsInfo");
          const disk = { timestamp: BigInt(clock.now()) * 1_000_000n, fsId: { mountpoint: SNAPSHOTS } };
          const usedBytes = { value: BigInt(300 * MIB) };
          return ImageFsInfoResponse.fromPartial({
            imageFilesystems: [{ ...disk, usedBytes, inodesUsed: { value: 30n } }],
            ...(layers !== undefined && {
              containerFilesystems: [
                {
                  ...disk,
                  fsId: { mountpoint: layers },
                  usedBytes: { value: BigInt(70 * MIB) },
                  inodesUsed: { value: 7n },
                },
              ],
            }),
          });
        },
      },
      volumes,
      volumeReports: () => [{ pod: { uid: "uid-web", name: "web", namespace: "shop" }, volumes: reports }],
    },
    { rootDirectory: ROOT, podLogsDirectory: LOGS, volumePeriodMs },
  );
  const stats = createNodeStats({ clock, machine, proc, usage, storage }, { nodeName: "node-1", rootDirectory: ROOT });
  const controller = new AbortController();
  const running = stats.run(controller.signal);
  return {
    host,
    pods,
    volumes,
    usage,
    stats,
    daemons,
    runtimeStats,
    asked,
    reports,
    fileSystems,
    async read(reading) {
      // The caller handles a rejection.
      reading.catch(() => undefined);
      await clock.advance(100);
      await clock.settle();
      return await reading;
    },
    async end() {
      controller.abort();
      await clock.settle();
      await running;
    },
  };
}
