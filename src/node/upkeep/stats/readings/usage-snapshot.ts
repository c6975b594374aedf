import type { PodReference } from "../../../../api/pods.ts";
import type { CgroupPressure, CgroupUsage } from "../../../../host/cgroups-port.ts";
import type { InterfaceCounters } from "../../../../host/proc-port.ts";
import type { ProcessFiles } from "./process-files.ts";

/** The processor time, memory and network traffic that the node and its pods used at about one time. */
export interface UsageSnapshot {
  readonly node: NodeUsage;
  /**
   * `kubelet` is the cgroup that an operator named for the node agent, or else the node agent's own. `misc` is the
   * cgroup that an operator named for the system's daemons, and `runtime` that for the container runtime. Each is
   * undefined where it is not known.
   */
  readonly kubelet: MeasuredCgroup | undefined;
  readonly misc: MeasuredCgroup | undefined;
  readonly runtime?: MeasuredCgroup | undefined;
  /** The cgroup of all pods; undefined on a node where pods have no cgroups of their own. */
  readonly allPods?: MeasuredCgroup | undefined;
  readonly pods: readonly PodUsage[];
  /**
   * The cgroups that are no container's: of all pods, of the QoS classes, of pods and of daemons. Read with the details
   * only.
   */
  readonly groups?: readonly GroupUsage[];
}

/** The usage of a cgroup that is no container's. */
export interface GroupUsage extends MeasuredCgroup {
  readonly path: string;
  /** The pod whose cgroup it is. */
  readonly pod: PodReference | undefined;
}

/** A cgroup and how busy it was. */
export interface MeasuredCgroup {
  /** The wall clock time of the reading, in milliseconds since the epoch. */
  readonly at: number;
  readonly usage: CgroupUsage;
  /** Nanoseconds of processor time per second. Undefined while there is no earlier reading to compare with. */
  readonly cpuRate: number | undefined;
  /** What its processes have open. Read with the details only. */
  readonly files?: ProcessFiles;
}

/** The usage of the machine as a whole. */
export interface NodeUsage extends MeasuredCgroup {
  readonly interfaces: readonly InterfaceCounters[] | undefined;
  readonly pressure: CgroupPressure;
}

/** The usage of a pod that has at least one running container. */
export interface PodUsage {
  readonly pod: PodReference;
  /** The time when the sandbox was created, in milliseconds since the epoch. */
  readonly createdAt: number;
  readonly sandbox: ContainerUsage | undefined;
  readonly containers: readonly ContainerUsage[];
  /**
   * A counter in nanoseconds that does not start again when a container restarts. Undefined where no counter is
   * available.
   */
  readonly cpuTotal: number | undefined;
  readonly network: { readonly at: number; readonly interfaces: readonly InterfaceCounters[] } | undefined;
  /** How long the tasks of the pod have waited, by its own cgroup; containers' times cannot be added up. */
  readonly pressure: CgroupPressure;
  /** What the runtime tells of the pod as a whole, where it is asked in place of the kernel. */
  readonly told?: ToldPod;
}

/** What a runtime tells of a pod as a whole. What it does not tell is undefined. */
export interface ToldPod {
  readonly total: MeasuredCgroup | undefined;
  readonly network: PodUsage["network"];
  readonly processCount: number | undefined;
}

/** The usage of a running container or of a sandbox. */
export interface ContainerUsage extends MeasuredCgroup {
  readonly id: string;
  /** The container's name in the pod. Empty for a sandbox. */
  readonly name: string;
  readonly createdAt: number;
  /** The path of the cgroup. Undefined for a container that only the runtime can measure. */
  readonly path: string | undefined;
}
