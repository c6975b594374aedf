import type { StartFailure } from "../../runtime/pod-runtime/start-failure.ts";

/**
 * Why containers that should run do not, by pod and container name, as of the pod's last sync: the reason and message
 * of their waiting state. A start that succeeds takes the entry away.
 */
export interface StartFailures {
  of(uid: string): ReadonlyMap<string, StartFailure>;
  set(uid: string, failures: ReadonlyMap<string, StartFailure>): void;
  forget(uid: string): void;
}

const NONE: ReadonlyMap<string, StartFailure> = new Map();

export function createStartFailures(): StartFailures {
  const byPod = new Map<string, ReadonlyMap<string, StartFailure>>();
  return {
    of: (uid) => byPod.get(uid) ?? NONE,
    set(uid, failures) {
      if (failures.size === 0) byPod.delete(uid);
      else byPod.set(uid, failures);
    },
    forget: (uid) => byPod.delete(uid),
  };
}
