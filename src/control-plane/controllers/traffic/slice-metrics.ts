import { createMetrics, type Metrics } from "../../../base/metrics.ts";
import type { SlicePlan } from "./plan-slices.ts";

/** Counts the work on endpoint slices. */
interface SliceMetrics {
  /** Runs the work on a service, and counts how it ends. */
  sync(work: () => Promise<void>): Promise<void>;
  /** The slices were changed by this plan. */
  changed(plan: SlicePlan): void;
}

/** Declares upstream's series (`k8s.io/endpointslice/metrics`). Without a place for them, nobody counts. */
export function createSliceMetrics(metrics: Metrics = createMetrics()): SliceMetrics {
  const prefix = "endpoint_slice_controller";
  const syncs = metrics.counter(`${prefix}_syncs`, "Number of EndpointSlice syncs", ["result"]);
  const changes = metrics.counter(`${prefix}_changes`, "Number of EndpointSlice changes", ["operation"]);
  return {
    async sync(work) {
      try {
        await work();
      } catch (error) {
        syncs.add({ result: "error" });
        throw error;
      }
      syncs.add({ result: "success" });
    },
    changed({ create, update, remove }) {
      const counts = { create: create.length, update: update.length, delete: remove.length };
      for (const [operation, count] of Object.entries(counts)) if (count > 0) changes.add({ operation }, count);
    },
  };
}
