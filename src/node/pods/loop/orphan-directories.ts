import type { Clock } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Tasks } from "../../../base/tasks.ts";

export interface OrphanDirectoriesDeps {
  clock: Clock;
  log: Log;
  tasks: Tasks;
  directories: { listDirectories(): Promise<string[]>; removeDirectories(uid: string): Promise<void> };
  tearDownVolumes(uid: string): Promise<void>;
  removeLogs(uid: string): Promise<void>;
  /** Removes the cgroups of pods that are not known. Default: pods have none. */
  collectCgroups?: ((isKnown: (uid: string) => boolean) => Promise<void>) | undefined;
  metrics?: Metrics | undefined;
}

/** The shortest time between two rounds: directories outlive their pod only when the node agent was killed half-way. */
const PERIOD_MS = 60_000;

/**
 * Removes the directories and the cgroups of pods that are gone, in the background and one round at a time. Removal
 * does not cross mounts, so that no content of a mounted volume is lost.
 */
export function createOrphanDirectories(deps: OrphanDirectoriesDeps): (isKnown: (uid: string) => boolean) => void {
  const swept = declareSweep(deps.metrics);
  let nextAt = 0;
  let running = false;

  const collect = async (isKnown: (uid: string) => boolean): Promise<void> => {
    let [found, failed] = [0, 0];
    for (const uid of await deps.directories.listDirectories()) {
      if (isKnown(uid)) continue;
      found++;
      try {
        await deps.tearDownVolumes(uid);
        // The pod may have come back meanwhile, as a static pod with the same UID does.
        if (isKnown(uid)) continue;
        await deps.removeLogs(uid);
        if (isKnown(uid)) continue;
        // The directory goes last, because the rest is found again by it.
        await deps.directories.removeDirectories(uid);
        deps.log.info("Removed the directory of a pod that is gone", { uid });
      } catch (error) {
        failed++;
        deps.log.warn("Orphaned pod found, but its directory cannot be removed", { uid, error: messageOf(error) });
      }
    }
    swept(found, failed);
    if (deps.collectCgroups === undefined) return;
    // The cgroup goes after the volumes, because a volume in memory is counted there as long as it exists.
    const left = new Set(await deps.directories.listDirectories());
    await deps.collectCgroups((uid) => left.has(uid) || isKnown(uid));
  };

  return (isKnown) => {
    if (running || deps.clock.monotonic() < nextAt) return;
    nextAt = deps.clock.monotonic() + PERIOD_MS;
    running = true;
    deps.tasks.spawn("orphan directories", async () => {
      try {
        await collect(isKnown);
      } catch (error) {
        deps.log.warn("Could not look for orphaned pod directories", { error: messageOf(error) });
      } finally {
        running = false;
      }
    });
  };
}

/** The metrics are of the last round only, as upstream's are. */
function declareSweep(metrics: Metrics | undefined): (found: number, failed: number) => void {
  const cleaned = metrics?.gauge(
    "kubelet_orphan_pod_cleaned_volumes",
    "The total number of orphaned Pods whose volumes were cleaned in the last periodic sweep.",
  );
  const errors = metrics?.gauge(
    "kubelet_orphan_pod_cleaned_volumes_errors",
    "The number of orphaned Pods whose volumes failed to be cleaned in the last periodic sweep.",
  );
  return (found, failed) => {
    cleaned?.set(found);
    errors?.set(failed);
  };
}
