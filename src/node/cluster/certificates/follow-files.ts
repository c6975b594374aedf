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

/** Whatever happens to the watch, files are looked at this often (as upstream's dynamic file contents are). */
const LOOK_MS = MINUTE;
/** A pair of files is replaced one after the other: the second follows soon. */
const SETTLE_MS = 0.2 * SECOND;

/**
 * Calls `look` at the beginning, after something changed in a directory of the files, and once a minute, until the signal
 * fires; never twice at a time. What `look` throws is logged: what was read before goes on holding.
 */
export async function followFiles(
  { files, clock, log }: FollowDeps,
  { paths, look }: { readonly paths: readonly string[]; look(): Promise<void> },
  signal: AbortSignal,
): Promise<void> {
  const flag = createChangeFlag(clock);
  const watch = async (directory: string, inner: AbortSignal) => {
    // A directory that is away, or cannot be watched, is tried again; meanwhile there is the minute.
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
