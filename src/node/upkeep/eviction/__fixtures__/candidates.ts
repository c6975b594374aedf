import type { Pod } from "../../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../../api/well-known.ts";
import type { PodConsumption } from "../pod-consumption.ts";
import type { Candidate } from "../rank-pods.ts";

/** The properties of a test's pod. Amounts of use are in bytes, requests are quantities. */
export interface Sort {
  readonly priority?: number;
  readonly isStatic?: boolean;
  readonly graceSeconds?: number;
  readonly createdAt?: string;
  readonly memory?: number;
  readonly memoryRequest?: string;
  readonly layer?: number;
  readonly logs?: number;
  readonly volume?: number;
  readonly inodes?: number;
  readonly storageRequest?: string;
  readonly processes?: number;
  /** The pod could not be measured. */
  readonly isUnmeasured?: boolean;
}

/** Makes a pod with one container and one volume of its own. */
export function candidateOf(name: string, sort: Sort = {}): Candidate {
  return { pod: podOf(name, sort), usage: sort.isUnmeasured ? undefined : usageOf(name, sort) };
}

function podOf(name: string, { priority, isStatic, graceSeconds, createdAt, ...sort }: Sort): Pod {
  const requests = {
    ...(sort.memoryRequest && { memory: sort.memoryRequest }),
    ...(sort.storageRequest && { "ephemeral-storage": sort.storageRequest }),
  };
  return {
    metadata: {
      uid: name,
      name,
      namespace: "ns",
      annotations: { [CONFIG_SOURCE_ANNOTATION]: isStatic ? "file" : "api" },
      ...(createdAt && { creationTimestamp: createdAt }),
    },
    spec: {
      containers: [{ name: "main", resources: { requests } }],
      volumes: [{ name: "own", emptyDir: {} }],
      ...(priority !== undefined && { priority }),
      ...(graceSeconds !== undefined && { terminationGracePeriodSeconds: graceSeconds }),
    },
  };
}

function usageOf(uid: string, sort: Sort): PodConsumption {
  const { memory, layer, logs, volume, inodes = 0, processes } = sort;
  const memoryStats = memory === undefined ? {} : { memory: { workingSetBytes: memory } };
  return {
    podRef: { uid },
    ...memoryStats,
    containers: [
      {
        name: "main",
        ...memoryStats,
        ...(layer !== undefined && { rootfs: { usedBytes: layer, inodesUsed: inodes } }),
        ...(logs !== undefined && { logs: { usedBytes: logs, inodesUsed: inodes } }),
      },
    ],
    ...(volume !== undefined && { volume: [{ name: "own", usedBytes: volume, inodesUsed: inodes }] }),
    ...(processes !== undefined && { process_stats: { process_count: processes } }),
  };
}
