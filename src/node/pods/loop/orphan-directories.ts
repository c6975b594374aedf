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

/** Directories are looked through no more often than this: they only outlive their pod when we were killed half-way. */
const PERIOD_MS = 60_000;

/**
 * Removes the directories and the cgroups of pods that are no more, in the background and one round at a time. What is mounted in them
 * stays (removal does not cross mounts), so no volume's content is lost to a clean-up.
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
        // It may have come back meanwhile, as a static pod with the same UID does.
        if (isKnown(uid)) continue;
        await deps.removeLogs(uid);
        if (isKnown(uid)) continue;
        // Goes last: it is by this directory that the rest is found again.
        await deps.directories.removeDirectories(uid);
        deps.log.info("Removed the directory of a pod that is gone", { uid });
      } catch (error) {
        failed++;
        deps.log.warn("Orphaned pod found, but its directory cannot be removed", { uid, error: messageOf(error) });
      }
    }
    swept(found, failed);
    if (deps.collectCgroups === undefined) return;
    // What a volume holds in memory is counted in its pod's cgroup for as long as it is there.
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

/** Of the last round only, as upstream's. */
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
