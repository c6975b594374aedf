import type { HealthCheck } from "../ports/health-check.ts";

/** The moment at which the cluster's first objects are there. */
export interface Readiness {
  readonly isReached: boolean;
  readonly reached: Promise<void>;
  reach(): void;
  /** The check of `/readyz` that waits for that moment. */
  readonly healthCheck: HealthCheck;
}

export function createReadiness(): Readiness {
  let isReached = false;
  let resolveReached: () => void = () => undefined;
  const reached = new Promise<void>((resolve) => {
    resolveReached = resolve;
  });
  return {
    get isReached() {
      return isReached;
    },
    reached,
    reach() {
      isReached = true;
      resolveReached();
    },
    healthCheck: {
      name: "poststarthook/bootstrap-cluster",
      check: () => (isReached ? undefined : "the cluster's first objects are not there yet"),
    },
  };
}
