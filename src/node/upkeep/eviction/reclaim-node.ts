import { isStaticPod, podUid } from "../../../api/pods.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { withDeadline } from "../../../base/time-limit.ts";
import type { EvictionSignal } from "../../../config/eviction-thresholds.ts";
import type { PodState } from "../../pods/workers/pod-state.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import type { DiskLayout } from "./disk-layout.ts";
import { SIGNALS } from "./signals.ts";

/** The things on the node that may be removed before any pod is evicted. */
export type Reclaimable = "dead containers" | "unused images";

/** Removes things that no pod needs. */
export interface NodeReclaim {
  /**
   * Removes these things, and returns whether anything was removed. A failure is logged, and a removal that takes too
   * long is given up. Rejects with AbortedError only.
   */
  reclaim(what: readonly Reclaimable[], signal: AbortSignal): Promise<boolean>;
}

interface NodeReclaimDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly workers: { states(): ReadonlyMap<string, PodState> };
  /** The containers and sandboxes that the runtime holds of a pod, as far as is known. */
  latest(podUid: string): PodRuntimeStatus | undefined;
  /** Removes everything that the runtime holds of the pod, including its logs. */
  removeFromRuntime(pod: PodRuntimeStatus, signal: AbortSignal): Promise<void>;
  freeImages(signal: AbortSignal): Promise<bigint>;
}

/**
 * Chooses what to remove, as upstream's `buildSignalToNodeReclaimFuncs` does (pkg/kubelet/eviction/helpers.go). Memory
 * and processes are used by pods alone, so nothing is removed for them.
 */
export function planReclaim(
  signal: EvictionSignal,
  { isDedicated, isSplit }: Pick<DiskLayout, "isDedicated" | "isSplit">,
): readonly Reclaimable[] {
  if (SIGNALS[signal].pressure !== "disk") return [];
  if (!isDedicated) return ["dead containers", "unused images"];
  if (isSplit) return signal.startsWith("imagefs.") ? ["unused images"] : ["dead containers"];
  return signal.startsWith("nodefs.") ? [] : ["dead containers", "unused images"];
}

/** A removal is given up after this time, so that evictions do not wait for a runtime that hangs. */
const TIMEOUT_MS = MINUTE;

export function createNodeReclaim(deps: NodeReclaimDeps): NodeReclaim {
  const { clock, log } = deps;

  /**
   * Removes the containers of pods that have ended and are kept for their status. Containers of static pods stay: after
   * a restart of the node agent nothing else would show that these pods have run.
   */
  const removeDeadContainers = async (signal: AbortSignal): Promise<boolean> => {
    let hasRemoved = false;
    for (const { phase, subject } of deps.workers.states().values()) {
      if (phase !== "finished" || subject.kind !== "pod" || isStaticPod(subject.pod)) continue;
      const held = deps.latest(podUid(subject.pod));
      if (held === undefined || held.containers.length + held.sandboxes.length === 0) continue;
      const isGone = await attempt("removing the containers of a pod", signal, async () => {
        await deps.removeFromRuntime(held, signal);
        return true;
      });
      hasRemoved ||= isGone;
    }
    return hasRemoved;
  };

  const attempt = async (what: string, signal: AbortSignal, work: () => Promise<boolean>): Promise<boolean> => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      const words = "Eviction manager: unexpected error when attempting to reduce resource pressure";
      log.warn(words, { of: what, error: messageOf(error) });
      return false;
    }
  };

  const removers: Readonly<Record<Reclaimable, (signal: AbortSignal) => Promise<boolean>>> = {
    "dead containers": removeDeadContainers,
    "unused images": async (signal) => (await deps.freeImages(signal)) > 0n,
  };

  return {
    async reclaim(what, signal) {
      let hasRemoved = false;
      for (const each of what) {
        const limit = { timeoutMs: TIMEOUT_MS, signal, what: `removing ${each}` };
        const removed = await attempt(limit.what, signal, async () => await withDeadline(clock, limit, removers[each]));
        hasRemoved ||= removed;
      }
      return hasRemoved;
    },
  };
}
