import type { PodReference } from "../../../../api/pods.ts";
import type { CgroupPressure, CgroupUsage } from "../../../../host/cgroups-port.ts";
import type { InterfaceCounters } from "../../../../host/proc-port.ts";

/** What the node and its pods used of processors, memory and the network at about one time. */
export interface UsageSnapshot {
  readonly node: NodeUsage;
  /** Cgroups that an operator named, and the node agent's own, where they are known. */
  readonly kubelet: MeasuredCgroup | undefined;
  readonly misc: MeasuredCgroup | undefined;
  /** The cgroup of all pods; undefined on a node where pods have no cgroups of their own. */
  readonly allPods?: MeasuredCgroup | undefined;
  readonly pods: readonly PodUsage[];
}

/** A cgroup and how busy it was. */
export interface MeasuredCgroup {
  /** By the wall clock, milliseconds since the epoch. */
  readonly at: number;
  readonly usage: CgroupUsage;
  /** Nanoseconds of processors a second; undefined where there is nothing yet to compare with. */
  readonly cpuRate: number | undefined;
}

/** The machine. */
export interface NodeUsage extends MeasuredCgroup {
  readonly interfaces: readonly InterfaceCounters[] | undefined;
  readonly pressure: CgroupPressure;
}

/** Of a pod with a container that runs. */
export interface PodUsage {
  readonly pod: PodReference;
  /** Of the sandbox, milliseconds since the epoch. */
  readonly createdAt: number;
  readonly sandbox: ContainerUsage | undefined;
  readonly containers: readonly ContainerUsage[];
  /** Counts on over restarts of containers, in nanoseconds; undefined where nobody counts. */
  readonly cpuTotal: number | undefined;
  readonly network: { readonly at: number; readonly interfaces: readonly InterfaceCounters[] } | undefined;
}

/** A container that runs, or a sandbox. */
export interface ContainerUsage extends MeasuredCgroup {
  readonly id: string;
  /** As the pod names it; empty for a sandbox. */
  readonly name: string;
  readonly createdAt: number;
  /** Of the cgroup; undefined for what the runtime alone can measure. */
  readonly path: string | undefined;
}
