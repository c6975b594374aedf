import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";

/** The pods that no source names any more and that have not ended, which is what a deletion by force leaves. */
export interface Departures {
  isLeaving(uid: string): boolean;
  /** Which of the pods are such pods. */
  among(pods: readonly Pod[]): Pod[];
  /** The pod is to be asked about again when one of them has ended. */
  queue(uid: string): void;
  /** One of them has ended. */
  ended(): void;
}

interface DepartureDeps {
  isNamed(uid: string): boolean;
  onDecidable(uid: string): void;
}

/** Keeps the pods that wait for the end of such pods; those wait once for each time that they are queued. */
export function createDepartures({ isNamed, onDecidable }: DepartureDeps): Departures {
  const queued = new Set<string>();
  const isLeaving = (uid: string) => !isNamed(uid);
  return {
    isLeaving,
    among: (pods) => pods.filter((pod) => isLeaving(podUid(pod))),
    queue: (uid) => queued.add(uid),
    ended() {
      const waiting = [...queued];
      queued.clear();
      for (const uid of waiting) onDecidable(uid);
    },
  };
}
