import type { Pod } from "../../../api/gen/types.ts";
import type { PodVolumeSetUp } from "../../storage/volumes/pod-volumes.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import type { StartFailure } from "./start-failure.ts";

/** The runtime as the pod's sync sees it: bring a pod nearer to its manifest, stop it, remove it. */
export interface PodRuntime {
  /**
   * Plans and executes one step towards what the pod asks for. Rejects with a PodSandboxError, or with what a stop failed for; a container that
   * cannot start is an outcome, because the others may.
   */
  sync(pod: Pod, status: PodRuntimeStatus, options: SyncOptions): Promise<SyncOutcome>;
  /** Stops all containers and sandboxes; `pod` is undefined for an orphan. */
  stop(
    pod: Pod | undefined,
    status: PodRuntimeStatus,
    options: { gracePeriodSeconds: number | undefined; signal: AbortSignal },
  ): Promise<void>;
  /** Removes the stopped containers, the sandboxes and the logs. */
  remove(status: PodRuntimeStatus, signal: AbortSignal): Promise<void>;
}

export interface SyncOptions {
  /** The pod's volumes by name; containers are started when they have `finished`, a sandbox before. */
  volumes: PodVolumeSetUp;
  signal: AbortSignal;
  /** Called before the first call that changes something. */
  beforeChange(): void;
}

export interface SyncOutcome {
  /** By container name; a container that is not in it runs, is done, or has to wait for another. */
  failures: ReadonlyMap<string, StartFailure>;
}
