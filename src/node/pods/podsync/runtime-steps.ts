import type { PodReference } from "../../../api/pods.ts";
import { assert } from "../../../base/assert.ts";
import type { PodRuntime } from "../../runtime/pod-runtime/pod-runtime.ts";
import { hasRunningContainer, type PodItems, type PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { createRuntimeChanges } from "../pleg/runtime-changes.ts";
import { createKnownItems } from "./known-items.ts";
import type { ReadySandboxes } from "./ready-sandboxes.ts";
import type { StartFailures } from "./start-failures.ts";
import type { SyncingRun, SyncRun } from "./sync-run.ts";

export interface RuntimeStepsDeps {
  runtime: PodRuntime;
  /** The status of the pod that was read last; see `PodCache` for `fresh` and `invalidate`. */
  cache: {
    fresh(pod: PodReference, signal: AbortSignal): Promise<PodRuntimeStatus>;
    invalidate(uid: string): void;
  };
  /** Reads the pod from the runtime into the cache; `items`: all that there is of it, where that is known. */
  refresh(pod: PodReference, items?: PodItems): Promise<void>;
}

/** The steps that read the pod from the runtime and change it there. */
interface RuntimeSteps {
  readRuntime(run: SyncRun): Promise<void>;
  /** Gives the pod a sandbox and, once its volumes have finished, containers. */
  startContainers(run: SyncingRun): Promise<void>;
  stopContainers(run: SyncRun, gracePeriodSeconds: number): Promise<void>;
  /** Rejects with StillRunningError where a container runs after it was stopped. */
  checkStopped(run: SyncRun): void;
  /** With `keepLogs` the restart counts of a pod that begins anew go on. */
  removeContainers(run: SyncRun, keepLogs: boolean): Promise<void>;
}

/** Containers of the pod still run although the runtime has stopped them. */
class StillRunningError extends Error {
  override readonly name = "StillRunningError";
  readonly uid: string;

  constructor(uid: string) {
    super("containers of the pod still run after they were stopped");
    this.uid = uid;
  }
}

interface RuntimeStepsNeighbours {
  readonly failures: Pick<StartFailures, "set">;
  readonly sandboxes: Pick<ReadySandboxes, "add" | "forget">;
  /** Publishes the pod's status while its containers are being started. */
  publishStatus(run: SyncRun): void;
}

export function createRuntimeSteps(
  deps: RuntimeStepsDeps,
  { failures, sandboxes, publishStatus }: RuntimeStepsNeighbours,
): RuntimeSteps {
  const { runtime, cache } = deps;
  const known = createKnownItems();

  // What is synced exists: its worker ends before the pod is forgotten.
  const changing = createRuntimeChanges({ cache, refresh: deps.refresh, isKnown: () => true });

  return {
    async readRuntime(run) {
      run.runtime = await cache.fresh(run.reference, run.signal);
    },
    async startContainers(run) {
      const { pod, reference, runtime: before, volumes, signal } = run;
      assert(volumes !== undefined, "a pod's volumes are set up before its containers start");
      let hasChanged = false;
      let items: PodItems | undefined;
      const beforeChange = () => {
        hasChanged = true;
        cache.invalidate(reference.uid);
      };
      try {
        const onSandboxReady = () => sandboxes.add(reference.uid, () => publishStatus(run));
        const outcome = await runtime.sync(pod, before, { volumes, signal, beforeChange, onSandboxReady });
        failures.set(reference.uid, outcome.failures);
        if (outcome.failures.size > 0) known.doubt(reference.uid);
        else if (outcome.made !== undefined) items = known.afterStart(before, outcome.made);
        if (outcome.resizeError !== undefined) run.resizeError = outcome.resizeError;
        await volumes.finished;
      } catch (error) {
        known.doubt(reference.uid);
        items = undefined;
        throw error;
      } finally {
        // Whether or not the start failed, the next sync must find nothing of this one at work.
        await Promise.allSettled([volumes.finished]);
        try {
          if (hasChanged) {
            cache.invalidate(reference.uid);
            await deps.refresh(reference, items);
          }
        } finally {
          sandboxes.forget(reference.uid);
        }
      }
    },
    async stopContainers({ pod, reference, runtime: before, signal }, gracePeriodSeconds) {
      const change = async () => await runtime.stop(pod, before, { gracePeriodSeconds, signal });
      await changing(reference, change, known.afterStop(before));
    },
    checkStopped({ reference, runtime: stopped }) {
      if (hasRunningContainer(stopped)) throw new StillRunningError(reference.uid);
    },
    async removeContainers({ reference, runtime: stopped, signal }, keepLogs) {
      // The lists say that nothing is left.
      await changing(reference, async () => await runtime.remove(stopped, { keepLogs, signal }));
      known.forget(reference.uid);
    },
  };
}
