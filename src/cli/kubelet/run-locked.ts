import { childController, isAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { runWithTasks } from "../../base/tasks.ts";
import type { LockFileConfig } from "../../config/node-agent-config.ts";
import { acquireFileLock } from "../../host/linux/system/file-lock.ts";

interface LockedRunDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Does the work while this process holds the lock of `--lock-file`, and without one where no file is given. It waits
 * for another process that has the lock. With `--exit-on-lock-contention` the work is aborted when somebody opens
 * the file. Resolves also when the signal ends the wait. Rejects with `lock-failed` where the file cannot be
 * locked or watched.
 */
export async function runLocked(
  lockFile: LockFileConfig | undefined,
  { clock, log }: LockedRunDeps,
  { work, signal }: { work(signal: AbortSignal): Promise<void>; signal: AbortSignal },
): Promise<void> {
  if (lockFile === undefined) return await work(signal);
  const { path, exitsOnContention } = lockFile;
  log.info("Acquiring file lock", { path });
  const onWait = () => log.info("Another process has the file lock, waiting for it", { path });
  await runWithTasks(signal, async (tasks, inner) => {
    const lock = await explainFailure(path, async () => await acquireFileLock(path, { clock, onWait }, inner));
    try {
      if (!exitsOnContention) return await work(inner);
      const { controller, release } = childController(inner);
      tasks.spawn("lock file", async () => {
        const onWatching = () => log.info("Watching for inotify events", { path });
        await explainFailure(path, async () => await lock.untilWanted(onWatching, inner));
        log.info("Another process wants the file lock: stopping, pods keep running", { path });
        controller.abort();
      });
      await work(controller.signal).finally(release);
    } finally {
      await lock.release();
    }
  });
}

/** The words are upstream's. */
async function explainFailure<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAbort(error)) throw error;
    const message = `unable to acquire file lock on "${path}" (--lock-file): ${messageOf(error)}`;
    throw new CodedError("lock-failed", message, { cause: error });
  }
}
