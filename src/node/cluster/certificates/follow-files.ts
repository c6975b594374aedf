import { posix } from "node:path";
import { sleep } from "../../../base/abort.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import { type Clock, MINUTE, SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { Files } from "../../../host/port.ts";

export interface FollowDeps {
  readonly files: Pick<Files, "watch">;
  readonly clock: Clock;
  readonly log: Log;
}

/** The files are looked at this often even when the watch reports nothing (as upstream's dynamic file contents are). */
const LOOK_MS = MINUTE;
/** The two files of a pair are replaced one after the other. This delay lets the second one follow. */
const SETTLE_MS = 0.2 * SECOND;

/**
 * Calls `look` at the beginning, after a change in a directory of the files, and once a minute, until the signal fires.
 * Two calls never overlap. What `look` throws is logged, and what was read before stays valid.
 */
export async function followFiles(
  { files, clock, log }: FollowDeps,
  { paths, look }: { readonly paths: readonly string[]; look(): Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const flag = createChangeFlag(clock);
  const watch = async (directory: string, inner: AbortSignal) => {
    // A directory that is missing or cannot be watched is tried again after a minute. The look of each minute still
    // happens meanwhile.
    while (!inner.aborted) {
      try {
        await files.watch(directory, flag.raise, inner);
      } catch (error) {
        log.debug("A directory cannot be watched", { path: directory, error: messageOf(error) });
      }
      await sleep(clock, LOOK_MS, inner);
    }
  };
  await runWithTasks(signal, async (tasks, inner) => {
    for (const directory of new Set(paths.map((path) => posix.dirname(path)))) {
      tasks.spawn(directory, async () => await watch(directory, inner));
    }
    while (!inner.aborted) {
      await look().catch((error: unknown) => {
        log.warn("A file cannot be read anew, what it said before goes on holding", { paths, error: messageOf(error) });
      });
      const isChanged = await flag.wait(LOOK_MS, inner);
      if (isChanged) await flag.settle({ quietMs: SETTLE_MS, maxMs: SETTLE_MS }, inner);
    }
  });
}
