import type { Pleg } from "../../pods/pleg/pleg.ts";
import type { PodCache } from "../../pods/pleg/pod-cache.ts";
import { createRuntimeChanges } from "../../pods/pleg/runtime-changes.ts";
import type { PodState } from "../../pods/workers/pod-state.ts";
import type { PodRuntime } from "../../runtime/pod-runtime/pod-runtime.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";

interface RuntimeRemoverDeps {
  readonly cache: Pick<PodCache, "invalidate">;
  readonly pleg: Pick<Pleg, "refresh">;
  readonly pods: Pick<PodRuntime, "remove">;
  readonly workers: { state(uid: string): PodState | undefined };
}

/**
 * Creates a function that removes everything that the runtime holds of a pod. It invalidates the readings of the pod
 * with the same care as the pod's worker.
 */
export function createRuntimeRemover({ cache, pleg, pods, workers }: RuntimeRemoverDeps) {
  const changing = createRuntimeChanges({
    cache,
    refresh: async (pod) => await pleg.refresh(pod),
    // The pod may be deleted and forgotten in the meantime.
    isKnown: (uid) => workers.state(uid) !== undefined,
  });
  return async (pod: PodRuntimeStatus, signal: AbortSignal): Promise<void> =>
    await changing(pod, async () => await pods.remove(pod, { keepLogs: false, signal }));
}
