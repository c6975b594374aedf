import type { PodReference } from "../../../../api/pods.ts";

/**
 * The summary API: `/stats/summary`, v1alpha1 (staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go). Times are
 * RFC 3339 with whole seconds. A field that is not known is absent.
 */
export interface Summary {
  readonly node: NodeSummary;
  readonly pods: readonly PodSummary[];
}

/** The machine as a whole. */
export interface NodeSummary {
  readonly nodeName: string;
  readonly systemContainers?: readonly ContainerSummary[];
  /** The time when the machine was started. */
  readonly startTime: string | null;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  /** The file system of the node agent's root directory. */
  readonly fs?: FsStats;
  readonly runtime?: { readonly imageFs?: FsStats; readonly containerFs?: FsStats };
  readonly rlimit?: RlimitStats;
  readonly swap?: SwapStats;
}

/** The summary of a pod that has a running container. */
export interface PodSummary {
  readonly podRef: PodReference;
  /** The time when the pod's sandbox was created. */
  readonly startTime: string;
  readonly containers: readonly ContainerSummary[];
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly network?: NetworkStats;
  readonly volume?: readonly SummaryVolume[];
  readonly "ephemeral-storage"?: FsStats;
  readonly process_stats?: { readonly process_count: number };
  readonly swap?: SwapStats;
}

/** The summary of a running container, or of a group of daemons. */
export interface ContainerSummary {
  readonly name: string;
  readonly startTime: string | null;
  readonly cpu?: CpuStats;
  readonly memory?: MemoryStats;
  readonly io?: IoStats;
  readonly rootfs?: FsStats;
  readonly logs?: FsStats;
  readonly swap?: SwapStats;
}

/** Processor time: nanoseconds per second (`usageNanoCores`), and nanoseconds in total (`usageCoreNanoSeconds`). */
export interface CpuStats {
  readonly time: string;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds?: number;
  readonly psi?: PsiStats;
}

/** Memory in use. `availableBytes` is present only where there is a limit. */
export interface MemoryStats {
  readonly time: string;
  readonly availableBytes?: number;
  readonly usageBytes?: number;
  readonly workingSetBytes?: number;
  readonly rssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
  readonly psi?: PsiStats;
}

/** The time that tasks lose by waiting for disks. */
export interface IoStats {
  readonly time: string;
  readonly psi?: PsiStats;
}

/**
 * Pressure stall information. `full` counts the time when all tasks that could run were waiting, `some` the time when
 * some of them were.
 */
export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

/** `total` is in microseconds, as the kernel counts it; upstream passes it on unchanged. */
interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

/** Swap in use. `swapAvailableBytes` is present only where there is a limit. */
export interface SwapStats {
  readonly time: string;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

/** Network traffic. The fields of the default interface, `eth0`, stand beside the list of all interfaces. */
export interface NetworkStats extends Partial<InterfaceStats> {
  readonly time: string;
  readonly interfaces?: readonly InterfaceStats[];
}

/** The counters of an interface since it was created. */
export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
}

/**
 * Disk usage. `usedBytes` and `inodesUsed` are what the thing itself takes; the other fields describe its file system.
 */
export interface FsStats {
  readonly time: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

/** Disk usage of a volume. `name` is the volume's name in the pod. */
export interface SummaryVolume extends FsStats {
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}

/** The number of processes and threads, and the most that the machine allows. */
export interface RlimitStats {
  readonly time: string;
  readonly maxpid?: number;
  readonly curproc?: number;
}
