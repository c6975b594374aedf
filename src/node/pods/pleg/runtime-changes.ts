import type { PodReference } from "../../../api/pods.ts";
import type { PodItems } from "../../runtime/reading/pod-runtime-status.ts";

interface RuntimeChangesDeps {
  /** See `PodCache`. */
  readonly cache: { invalidate(uid: string): void };
  /** Reads the pod from the runtime into the cache. */
  refresh(pod: PodReference, items?: PodItems): Promise<void>;
  /** False for a pod that is gone: a reading of it would stay in the cache for ever. */
  isKnown(uid: string): boolean;
}

/**
 * Brackets a change of a pod in the runtime: whatever becomes of the change, the reading of the pod from before is out of
 * date from its beginning on, and the pod is read again at its end. `items`: see `Pleg.refresh`; after a change that
 * failed the lists are asked.
 */
export function createRuntimeChanges({ cache, refresh, isKnown }: RuntimeChangesDeps) {
  return async <Result>(pod: PodReference, change: () => Promise<Result>, items?: PodItems): Promise<Result> => {
    cache.invalidate(pod.uid);
    let hasSucceeded = false;
    try {
      const result = await change();
      hasSucceeded = true;
      return result;
    } finally {
      if (isKnown(pod.uid)) {
        cache.invalidate(pod.uid);
        await refresh(pod, hasSucceeded ? items : undefined);
      }
    }
  };
}
