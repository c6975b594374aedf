import type { PodReference } from "../../../api/pods.ts";

interface RuntimeChangesDeps {
  /** See `PodCache`. */
  readonly cache: { invalidate(uid: string): void };
  /** Reads the pod from the runtime into the cache. */
  refresh(pod: PodReference): Promise<void>;
  /** False for a pod that is gone: a reading of it would stay in the cache for ever. */
  isKnown(uid: string): boolean;
}

/**
 * Brackets a change of a pod in the runtime: whatever becomes of the change, the reading of the pod from before is out of
 * date from its beginning on, and the pod is read again at its end.
 */
export function createRuntimeChanges({ cache, refresh, isKnown }: RuntimeChangesDeps) {
  return async <Result>(pod: PodReference, change: () => Promise<Result>): Promise<Result> => {
    cache.invalidate(pod.uid);
    try {
      return await change();
    } finally {
      if (isKnown(pod.uid)) {
        cache.invalidate(pod.uid);
        await refresh(pod);
      }
    }
  };
}
