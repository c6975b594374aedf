/** Callers that wait for a revision of another writer to be durable. */
interface DurabilityWaits {
  /** Waits for a revision that is on its way to the disk. */
  until(revision: number): Promise<void>;
  /** Everything up to this revision is durable. */
  reach(revision: number): void;
  /** None of the changes on their way to the disk will be durable. */
  fail(error: Error): void;
}

interface Wait {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** Waits are bounded by the requests that are served, and last as long as the disk takes. */
export function createDurabilityWaits(): DurabilityWaits {
  let waits: Wait[] = [];
  return {
    until: (revision) => new Promise((resolve, reject) => waits.push({ revision, resolve, reject })),
    reach(reached) {
      if (waits.length === 0) return;
      for (const { revision, resolve } of waits) if (revision <= reached) resolve();
      waits = waits.filter(({ revision }) => revision > reached);
    },
    fail(error) {
      for (const { reject } of waits) reject(error);
      waits = [];
    },
  };
}
