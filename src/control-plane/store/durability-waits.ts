/** Who waits for a revision to be durable without having written it. */
interface DurabilityWaits {
  /** For a revision that is on its way to the disk. */
  until(revision: number): Promise<void>;
  /** All up to here is durable. */
  reach(revision: number): void;
  /** Nothing that is on its way will be durable. */
  fail(error: Error): void;
}

interface Wait {
  readonly revision: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** No more wait than requests are served, and not longer than the disk takes. */
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
