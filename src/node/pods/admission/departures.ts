/** The pods that no source names any more and that have not ended, which is what a deletion by force leaves. */
export interface Departures {
  isLeaving(uid: string): boolean;
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
  return {
    isLeaving: (uid) => !isNamed(uid),
    queue: (uid) => queued.add(uid),
    ended() {
      const waiting = [...queued];
      queued.clear();
      for (const uid of waiting) onDecidable(uid);
    },
  };
}
