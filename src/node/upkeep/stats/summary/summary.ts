import type { PodReference } from "../../../../api/pods.ts";

/**
 * The summary API: `/stats/summary`, v1alpha1 (staging/src/k8s.io/kubelet/pkg/apis/stats/v1alpha1/types.go). Times are RFC
 * 3339 with whole seconds; what is not known is absent.
 */
export interface Summary {
  readonly node: NodeSummary;
  readonly pods: readonly PodSummary[];
}

/** The machine as a whole. */
export interface NodeSummary {
  readonly nodeName: string;
  readonly systemContainers?: readonly ContainerSummary[];
  /** When the machine was started. */
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

/** Of a pod that has a container that runs. */
export interface PodSummary {
  readonly podRef: PodReference;
  /** When its sandbox was made. */
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

/** Of a container that runs, or of a group of daemons. */
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

/** Nanoseconds of processors a second, and in all. */
export interface CpuStats {
  readonly time: string;
  readonly usageNanoCores?: number;
  readonly usageCoreNanoSeconds?: number;
  readonly psi?: PsiStats;
}

/** `availableBytes` only where there is a limit. */
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

/** What waiting for disks costs. */
export interface IoStats {
  readonly time: string;
  readonly psi?: PsiStats;
}

/** Of all tasks that could have run, and of some of them. */
export interface PsiStats {
  readonly full: PsiData;
  readonly some: PsiData;
}

/** `total` is what the kernel counts, as upstream hands it on: microseconds. */
interface PsiData {
  readonly total: number;
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
}

/** `swapAvailableBytes` only where there is a limit. */
export interface SwapStats {
  readonly time: string;
  readonly swapAvailableBytes?: number;
  readonly swapUsageBytes?: number;
}

/** The default interface, `eth0`, stands beside the list of all. */
export interface NetworkStats extends Partial<InterfaceStats> {
  readonly time: string;
  readonly interfaces?: readonly InterfaceStats[];
}

/** Counters, since the interface was made. */
export interface InterfaceStats {
  readonly name: string;
  readonly rxBytes: number;
  readonly rxErrors: number;
  readonly txBytes: number;
  readonly txErrors: number;
}

/** `usedBytes` and `inodesUsed` are what the thing itself takes, the others tell of its file system. */
export interface FsStats {
  readonly time: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodesFree?: number;
  readonly inodes?: number;
  readonly inodesUsed?: number;
}

/** `name` is the pod's for it. */
export interface SummaryVolume extends FsStats {
  readonly name: string;
  readonly pvcRef?: { readonly name: string; readonly namespace: string };
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}

/** Processes and threads. */
export interface RlimitStats {
  readonly time: string;
  readonly maxpid?: number;
  readonly curproc?: number;
}
