import type { Clock } from "../../../base/clock.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { CgroupTree } from "../../../host/cgroup-tree-port.ts";

/**
 * Returns a function that wraps a tree, so that upstream's series measure how long its changes take. All trees share
 * one series.
 */
export function createTreeMeasure({
  clock,
  metrics,
}: {
  clock: Clock;
  metrics: Metrics;
}): (tree: CgroupTree) => CgroupTree {
  const duration = metrics.histogram(
    "kubelet_cgroup_manager_duration_seconds",
    "Duration in seconds for cgroup manager operations. Broken down by method.",
    { labels: ["operation_type"] },
  );
  const measured = async (operation: string, work: () => Promise<void>): Promise<void> => {
    const begun = clock.monotonic();
    try {
      await work();
    } finally {
      duration.observe((clock.monotonic() - begun) / 1000, { operation_type: operation });
    }
  };
  return (tree) => ({
    ...tree,
    make: async (path, limits) => await measured("create", async () => await tree.make(path, limits)),
    limit: async (path, limits) => await measured("update", async () => await tree.limit(path, limits)),
    remove: async (path, options) => await measured("destroy", async () => await tree.remove(path, options)),
  });
}
