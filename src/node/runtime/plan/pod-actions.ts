import type { Container } from "../../../api/gen/types.ts";
import type { ContainerKind } from "../../../api/pods.ts";
import type { ContainerResize } from "./container-resize.ts";
import type { ContainerToReset, RestartTrigger } from "./restart-all-containers.ts";

/**
 * The plan of one sync, which `computePodActions` makes: what must be done so that the runtime holds what the pod asks for.
 * It is executed in the order of these fields. An empty plan means that the pod is as it should be.
 */
export interface PodActions {
  /** Why every container and the sandbox must be stopped first; undefined where they need not be. */
  killPod: KillReason | undefined;
  /** The sandbox to make, with its attempt number (0 for the pod's first). */
  createSandbox: { attempt: number } | undefined;
  /** The ready sandbox to use; undefined where there is none yet. */
  sandboxId: string | undefined;
  /** The containers to remove, in this order, so that the pod begins anew; undefined where it goes on. */
  restartOfAll: { triggers: readonly RestartTrigger[]; containers: readonly ContainerToReset[] } | undefined;
  containersToKill: ContainerToKill[];
  /** What the pod's cgroup and running containers must be given or lose; undefined: they have what they should. */
  resize: PodResize | undefined;
  /** The containers to start, in this order. An init container comes alone or after those that it may follow. */
  containersToStart: ContainerToStart[];
  /** The containers that should run, but must wait. */
  backingOff: BackingOffContainer[];
}

export type KillReason =
  | "sandbox-missing"
  | "several-sandboxes"
  | "sandbox-not-ready"
  | "sandbox-network-changed"
  | "sandbox-without-address"
  | "initialization-failed"
  | "nothing-left-to-run";

/** The resize of a pod. It may be of its cgroup only, as where a container is started anew with other resources. */
export interface PodResize {
  containers: ContainerResize[];
}

export interface ContainerToKill {
  id: string;
  name: string;
  /** The message of the `Killing` event, in upstream's words: `Container main definition changed, will be restarted`. */
  message: string;
  /** Seconds that replace the pod's own grace period. */
  gracePeriodSeconds?: number;
}

export interface ContainerToStart {
  container: Container;
  kind: ContainerKind;
  /** 0 for the first start. */
  restartCount: number;
  /** When the container that it replaces ended, for the back-off; undefined for a first start. */
  previousEndedAt: number | undefined;
}

/** A container that failed too often too quickly; `until` is in milliseconds since the epoch. */
interface BackingOffContainer {
  container: Container;
  until: number;
}
