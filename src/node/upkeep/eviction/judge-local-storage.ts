import type { Pod, Volume } from "../../../api/gen/types.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { LocalStorageLimits } from "./local-storage-limits.ts";
import type { PodStorageUsage } from "./pod-storage-usage.ts";

/** The reason for an eviction in upstream's words, and the signal under which `kubelet_evictions` counts it. */
export interface ExceededLimit {
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

interface LocalStorageQuestion {
  readonly pod: Pod;
  readonly limits: LocalStorageLimits;
  readonly usage: PodStorageUsage;
  /**
   * Whether the containers' own layers are on another disk than the pods' directories. If they are, a container's limit
   * covers only its logs. Undefined means that this is not known yet; containers are then judged by the pod's limit
   * only.
   */
  readonly hasDedicatedImageFs: boolean | undefined;
}

/**
 * Finds the first limit that the pod exceeds: first the limits of its emptyDirs, then of all its containers together,
 * then of a single container. The function is pure and follows upstream's `localStorageEviction`
 * (pkg/kubelet/eviction/eviction_manager.go).
 */
export function findExceededLimit(question: LocalStorageQuestion): ExceededLimit | undefined {
  return judgeEmptyDirs(question) ?? judgePod(question) ?? judgeContainers(question);
}

function judgeEmptyDirs({ limits, usage }: LocalStorageQuestion): ExceededLimit | undefined {
  for (const { volumeName, limit } of limits.emptyDirs) {
    const used = usage.volumes.get(volumeName);
    if (used === undefined || !isAbove(used, limit)) continue;
    return {
      signal: "emptydirfs.limit",
      message: `Usage of EmptyDir volume ${JSON.stringify(volumeName)} exceeds the limit ${JSON.stringify(limit)}. `,
    };
  }
  return undefined;
}

function judgePod({ pod, limits, usage }: LocalStorageQuestion): ExceededLimit | undefined {
  if (limits.pod === undefined || !isAbove(computePodStorage(pod, usage), limits.pod)) return undefined;
  return {
    signal: "ephemeralpodfs.limit",
    message: `Pod ephemeral local storage usage exceeds the total limit of containers ${limits.pod}. `,
  };
}

function judgeContainers({ limits, usage, hasDedicatedImageFs }: LocalStorageQuestion): ExceededLimit | undefined {
  if (hasDedicatedImageFs === undefined) return undefined;
  for (const { name, writableLayer, logs } of usage.containers) {
    const limit = limits.containers.get(name);
    const used = hasDedicatedImageFs ? logs : logs + writableLayer;
    if (limit === undefined || !isAbove(used, limit)) continue;
    return {
      signal: "ephemeralcontainerfs.limit",
      message: `Container ${name} exceeded its local ephemeral storage limit ${JSON.stringify(limit)}. `,
    };
  }
  return undefined;
}

/**
 * Adds up all that counts as the pod's ephemeral storage, in bytes, like upstream's `calcEphemeralStorage`
 * (pkg/kubelet/stats).
 */
export function computePodStorage(pod: Pod, usage: PodStorageUsage): number {
  const volumes = (pod.spec?.volumes ?? []).filter(isEphemeralStorage).map(({ name }) => usage.volumes.get(name) ?? 0);
  const containers = usage.containers.map(({ writableLayer, logs }) => writableLayer + logs);
  return [...volumes, ...containers, usage.podLogs, usage.hostFiles].reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Tells whether a volume counts as ephemeral storage. A volume in memory does not, because the pod's memory limit
 * covers it.
 */
export function isEphemeralStorage({ emptyDir, configMap }: Volume): boolean {
  return configMap !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? "") === "");
}

function isAbove(bytes: number, limit: string): boolean {
  return compareQuantities(String(bytes), limit) > 0;
}
