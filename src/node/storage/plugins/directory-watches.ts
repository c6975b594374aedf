import { isAbort } from "../../../base/abort.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";

/** Watches that come and go with the directories. */
interface DirectoryWatches {
  /** Watches these directories and no others. A watch that ended by itself is started again. */
  follow(directories: Iterable<string>): void;
  /** Ends all watches; resolves when nothing is watched any more. */
  stop(): Promise<void>;
}

/** `onChange` is also called when a watch comes into force. A directory that cannot be watched is logged once. */
export function createDirectoryWatches(deps: {
  readonly files: Pick<Files, "watch">;
  readonly log: Log;
  onChange(): void;
}): DirectoryWatches {
  const watches = new Map<string, () => void>();
  const running = new Set<Promise<void>>();
  const unwatchable = new Set<string>();

  const watch = async (directory: string, ended: AbortSignal): Promise<void> => {
    try {
      await deps.files.watch(directory, deps.onChange, ended);
    } catch (error) {
      if (isAbort(error) || unwatchable.has(directory)) return;
      unwatchable.add(directory);
      deps.log.warn("Cannot watch for plugins, looking periodically", { path: directory, error: messageOf(error) });
    }
  };

  const start = (directory: string) => {
    const controller = new AbortController();
    const end = () => controller.abort();
    watches.set(directory, end);
    const run = watch(directory, controller.signal).finally(() => {
      running.delete(run);
      if (watches.get(directory) === end) watches.delete(directory);
    });
    running.add(run);
  };

  const follow = (directories: Iterable<string>) => {
    const wanted = new Set(directories);
    for (const [directory, end] of watches) {
      if (wanted.has(directory)) continue;
      watches.delete(directory);
      end();
    }
    for (const directory of unwatchable) if (!wanted.has(directory)) unwatchable.delete(directory);
    for (const directory of wanted) if (!watches.has(directory)) start(directory);
  };

  return {
    follow,
    async stop() {
      follow([]);
      await Promise.all(running);
    },
  };
}
