import type { ContainerUser, LifecycleHandler } from "../../../api/gen/types.ts";
import type { PodReference } from "../../../api/pods.ts";
import type { ImageMount } from "./image-mounts.ts";

/**
 * The runtime's description of pods in the node agent's terms: everything that the plan, the status and PLEG read.
 * Times are milliseconds since the epoch; 0 means that the runtime gave none.
 */

/**
 * A pod as the runtime's lists show it. Reading the lists is cheap, and they are enough to see that something changed.
 */
export interface RuntimePod extends PodReference {
  sandboxes: RuntimeSandbox[];
  containers: RuntimeContainer[];
}

/** A sandbox as the runtime's list shows it. */
interface RuntimeSandbox {
  id: string;
  attempt: number;
  state: SandboxState;
  createdAt: number;
}

/** A container as the runtime's list shows it. */
interface RuntimeContainer {
  id: string;
  sandboxId: string;
  name: string;
  attempt: number;
  state: ContainerState;
  createdAt: number;
}

export type SandboxState = "ready" | "notready";
export type ContainerState = "created" | "running" | "exited" | "unknown";

/** All that there is of a pod in the runtime, where that is known without asking the runtime's lists. */
export interface PodItems {
  readonly sandboxes: readonly SandboxItem[];
  readonly containers: ReadonlyArray<{ readonly id: string; readonly sandboxId: string }>;
}

/** A sandbox of a pod. */
export interface SandboxItem {
  readonly id: string;
  /** What the runtime told of it after its last change; undefined: it is to be asked. */
  readonly status?: SandboxRuntimeStatus | undefined;
}

/** Everything known of one pod, from the runtime's status calls. */
export interface PodRuntimeStatus extends PodReference {
  /** Newest first, by their attempts. */
  sandboxes: SandboxRuntimeStatus[];
  /** The containers. Those of one name stand newest first, by restart counts; there are several after a restart. */
  containers: ContainerRuntimeStatus[];
  /** The addresses of the newest ready sandbox, primary first; empty on the host network. */
  ips: string[];
  /** The time when the reading of the status began. The status includes everything that the runtime did before it. */
  observedAt: number;
}

/** A sandbox as the runtime's status call shows it. */
export interface SandboxRuntimeStatus {
  id: string;
  attempt: number;
  state: SandboxState;
  createdAt: number;
  hostNetwork: boolean;
  ips: string[];
  runtimeHandler: string;
}

export interface ContainerRuntimeStatus {
  id: string;
  sandboxId: string;
  name: string;
  state: ContainerState;
  createdAt: number;
  startedAt: number;
  finishedAt: number;
  exitCode: number;
  /** `io.kubernetes.container.hash`, lower-case hex; empty when the annotation is missing. */
  hash: string;
  restartCount: number;
  /** The image as the pod named it where the runtime knows, and the runtime's own id of it. */
  image: string;
  imageId: string;
  /** The reason of an exit (`Completed`, `Error`, `OOMKilled`, `StartError`, …). */
  reason: string;
  /**
   * The termination message: from its file, else from the log's tail where the policy says so, else from the runtime.
   */
  message: string;
  logPath: string;
  /** The user that its first process runs as, where the runtime tells. */
  user?: ContainerUser;
  /** The resources that the runtime has given it, where the runtime tells. */
  resources?: ActualResources;
  /** The images that it has as volumes, where they are read. */
  imageMounts?: readonly ImageMount[];
  /** How to stop the container when its pod's manifest is gone, from the container's annotations. */
  recordedStop?: RecordedStop;
}

/** Thousandths of a core, and bytes; undefined: none is set. */
export interface ActualResources {
  milliCpuRequest?: bigint;
  milliCpuLimit?: bigint;
  memoryLimitBytes?: bigint;
}

/** The facts written on a container when it was made, for use when its manifest is gone. */
export interface RecordedStop {
  gracePeriodSeconds: number | undefined;
  preStop: LifecycleHandler | undefined;
}

/** The status of a pod of which the runtime holds nothing. */
export function emptyPodRuntimeStatus(pod: PodReference, observedAt: number): PodRuntimeStatus {
  const { uid, name, namespace } = pod;
  return { uid, name, namespace, sandboxes: [], containers: [], ips: [], observedAt };
}

/** Returns the newest container of that name, which is the one that counts. */
export function findContainer(status: PodRuntimeStatus, name: string): ContainerRuntimeStatus | undefined {
  return status.containers.find((container) => container.name === name);
}

/** True if anything of the pod except its sandbox runs. */
export function hasRunningContainer(status: PodRuntimeStatus): boolean {
  return status.containers.some((container) => container.state === "running");
}
