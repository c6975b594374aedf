import type { Clock } from "../../../src/base/clock.ts";

/**
 * What users and nodes did to pods, for checks that must not blame a controller: after it, a workload may have fewer pods
 * than its author allows, until it was whole once.
 */
export interface Disturbances {
  /** Something happened to a pod of the app. */
  app(name: string): void;
  /** Every app may be affected: the clock was set, a node went. */
  all(): void;
  /** The pod is deleted by somebody else than the controllers. */
  endedPods: Set<string>;
  isDisturbed(app: string): boolean;
  /** The app is as its author wants it. */
  settle(app: string): void;
  /** When something was done to all; -Infinity for never. */
  readonly allAt: number;
}

export function createDisturbances(clock: Clock): Disturbances {
  const apps = new Set<string>();
  const settledAt = new Map<string, number>();
  let allAt = Number.NEGATIVE_INFINITY;
  return {
    app: (name) => apps.add(name),
    all() {
      allAt = clock.monotonic();
    },
    endedPods: new Set(),
    isDisturbed: (app) => apps.has(app) || (settledAt.get(app) ?? Number.NEGATIVE_INFINITY) <= allAt,
    settle(app) {
      apps.delete(app);
      settledAt.set(app, clock.monotonic());
    },
    get allAt() {
      return allAt;
    },
  };
}
