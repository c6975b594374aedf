import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Tasks } from "../../base/tasks.ts";

export interface OrphanDirectoriesDeps {
  clock: Clock;
  log: Log;
  tasks: Tasks;
  directories: { listDirectories(): Promise<string[]>; removeDirectories(uid: string): Promise<void> };
  tearDownVolumes(uid: string): Promise<void>;
  removeLogs(uid: string): Promise<void>;
}

/** Directories are looked through no more often than this: they only outlive their pod when we were killed half-way. */
const PERIOD_MS = 60_000;

/**
 * Removes the directories of pods that are no more, in the background and one round at a time. What is mounted in them
 * stays (removal does not cross mounts), so no volume's content is lost to a clean-up.
 */
export function createOrphanDirectories(deps: OrphanDirectoriesDeps): (isKnown: (uid: string) => boolean) => void {
  let nextAt = 0;
  let running = false;

  const collect = async (isKnown: (uid: string) => boolean): Promise<void> => {
    for (const uid of await deps.directories.listDirectories()) {
      if (isKnown(uid)) continue;
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
        deps.log.warn("Orphaned pod found, but its directory cannot be removed", { uid, error: messageOf(error) });
      }
    }
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
