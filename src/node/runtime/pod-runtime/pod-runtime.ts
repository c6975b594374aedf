import type { Pod } from "../../../api/gen/types.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import type { PodItems, PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { StartFailure } from "./start-failure.ts";

/** The runtime as the pod's sync needs it: it brings a pod nearer to its manifest, stops it and removes it. */
export interface PodRuntime {
  /**
   * Plans and executes one step towards what the pod asks for. Rejects with a PodSandboxError, or with what a stop
   * failed for; a container that cannot start is an outcome, because the others may.
   */
  sync(pod: Pod, status: PodRuntimeStatus, options: SyncOptions): Promise<SyncOutcome>;
  /** Stops all containers and sandboxes; `pod` is undefined for an orphan. */
  stop(
    pod: Pod | undefined,
    status: PodRuntimeStatus,
    options: { gracePeriodSeconds: number | undefined; signal: AbortSignal },
  ): Promise<void>;
  /** Removes the stopped containers, the sandboxes and, unless the pod begins anew and needs them, the logs. */
  remove(status: PodRuntimeStatus, options: { keepLogs: boolean; signal: AbortSignal }): Promise<void>;
}

export interface SyncOptions {
  /** The pod's volumes by name. The sandbox is started before they have `finished`, containers after. */
  volumes: PodVolumeSetUp;
  signal: AbortSignal;
  /** Called before the first call that changes something. */
  beforeChange(): void;
  /** Called once a new sandbox is ready and the volumes have finished: nothing keeps the containers from starting. */
  onSandboxReady?(): void;
}

export interface SyncOutcome {
  /** The failures by container name. A container that is not among them runs, is done, or waits for another one. */
  failures: ReadonlyMap<string, StartFailure>;
  /** What was made; undefined where something was stopped or removed as well. */
  made?: PodItems;
  /** Why running containers could not be resized; undefined where they were, or need not be. */
  resizeError?: string;
}
