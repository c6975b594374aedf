import type { Container } from "../../../api/gen/types.ts";
import type { ContainerKind } from "../../../api/pods.ts";

/**
 * What one sync must do so that the runtime holds what the pod asks for: the plan, made by `computePodActions` and
 * executed in the order of these fields. A plan with nothing in it means that the pod is as it should be.
 */
export interface PodActions {
  /** Stop every container and the sandbox first: the sandbox is gone or no longer fits, or nothing is left to run. */
  killPod: KillReason | undefined;
  /** Make a sandbox, with this attempt number (0 for the pod's first). */
  createSandbox: { attempt: number } | undefined;
  /** The ready sandbox to use; undefined when there is none (yet). */
  sandboxId: string | undefined;
  containersToKill: ContainerToKill[];
  /** In this order; an init container comes alone or after those that it may follow. */
  containersToStart: ContainerToStart[];
  /** Containers that should run but must wait until then. */
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

export interface ContainerToKill {
  id: string;
  name: string;
  /** Upstream's wording for the `Killing` event, e.g. `Container main definition changed, will be restarted`. */
  message: string;
  /** Seconds, instead of the pod's own. */
  gracePeriodSeconds?: number;
}

export interface ContainerToStart {
  container: Container;
  kind: ContainerKind;
  /** 0 for the first start. */
  restartCount: number;
  /** When the container it replaces ended, for the back-off; undefined for a first start. */
  previousEndedAt: number | undefined;
}

/** It failed too often too quickly; `until` in milliseconds since the epoch. */
interface BackingOffContainer {
  container: Container;
  until: number;
}
