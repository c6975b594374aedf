import type { DesiredPods } from "./desired-pods.ts";
import type { PodUpdate } from "./pod-update.ts";

/** Hears of each update once the desired pods have it. */
type UpdateListener = (update: PodUpdate) => void;

/** What the sources change, for those who do not handle it. */
export interface PodUpdates {
  subscribe(listener: UpdateListener): void;
}

/** Lets others hear of the updates that `apply` returns, before its caller handles them. */
export function followUpdates(desired: DesiredPods): { desired: DesiredPods; updates: PodUpdates } {
  const listeners: UpdateListener[] = [];
  const apply: DesiredPods["apply"] = (snapshot) => {
    const updates = desired.apply(snapshot);
    for (const update of updates) for (const listener of listeners) listener(update);
    return updates;
  };
  return { desired: { ...desired, apply }, updates: { subscribe: (listener) => listeners.push(listener) } };
}
