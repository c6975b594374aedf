import type { Pod, Volume } from "../../../api/gen/types.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { LocalStorageLimits } from "./local-storage-limits.ts";
import type { PodStorageUsage } from "./pod-storage-usage.ts";

/** Why a pod is to go, in upstream's words, and what counts it in `kubelet_evictions`. */
export interface ExceededLimit {
  readonly signal: "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";
  readonly message: string;
}

interface LocalStorageQuestion {
  readonly pod: Pod;
  readonly limits: LocalStorageLimits;
  readonly usage: PodStorageUsage;
  /**
   * The containers' own layers are on another disk than the pods' directories. Then a container's limit is about its logs
   * alone. Undefined while that is not known: containers are then judged by the pod's limit only.
   */
  readonly hasDedicatedImageFs: boolean | undefined;
}

/**
 * The first limit that the pod exceeds: of its emptyDirs, of its containers together, of one container. Pure; upstream's
 * `localStorageEviction` (pkg/kubelet/eviction/eviction_manager.go).
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

/** All that counts as the pod's ephemeral storage, in bytes; upstream's `calcEphemeralStorage` (pkg/kubelet/stats). */
export function computePodStorage(pod: Pod, usage: PodStorageUsage): number {
  const volumes = (pod.spec?.volumes ?? []).filter(isEphemeralStorage).map(({ name }) => usage.volumes.get(name) ?? 0);
  const containers = usage.containers.map(({ writableLayer, logs }) => writableLayer + logs);
  return [...volumes, ...containers, usage.podLogs, usage.hostFiles].reduce((sum, bytes) => sum + bytes, 0);
}

/** What is in memory is held by the pod's limit of memory. */
export function isEphemeralStorage({ emptyDir, configMap }: Volume): boolean {
  return configMap !== undefined || (emptyDir !== undefined && (emptyDir.medium ?? "") === "");
}

function isAbove(bytes: number, limit: string): boolean {
  return compareQuantities(String(bytes), limit) > 0;
}
