import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { messageOf } from "../../../base/errors.ts";
import { runInBackground } from "../../../base/tasks.ts";
import { fileError } from "../../file-error.ts";

/** inotify on one directory; see `Files.watch` for what callers may rely on. */
export async function watchDirectory(path: string, onChange: () => void, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const identity = await readIdentity(path);
  if (identity === undefined) throw fileError("ENOENT", "watch", path);
  if (!identity.isDirectory) throw fileError("ENOTDIR", "watch", path);
  if (signal.aborted) return;

  await new Promise<void>((resolve, reject) => {
    const watcher: FSWatcher = watch(path);
    let hasEnded = false;
    const end = (error?: Error) => {
      hasEnded = true;
      signal.removeEventListener("abort", onAbort);
      watcher.removeAllListeners();
      watcher.close();
      if (error === undefined) resolve();
      else reject(error);
    };
    const onAbort = () => end();
    // inotify holds on to the directory itself. Once the path leads elsewhere, this watch sees nothing that matters.
    const endIfReplaced = () => {
      runInBackground(
        async () => {
          const current = await readIdentity(path);
          if (hasEnded || current?.inode === identity.inode) return;
          onChange();
          end();
        },
        (error) => end(new Error(messageOf(error), { cause: error })),
      );
    };
    signal.addEventListener("abort", onAbort, { once: true });
    watcher.on("error", end);
    watcher.on("change", (event) => {
      onChange();
      if (event === "rename") endIfReplaced();
    });
    onChange();
    // No event tells of a directory that was replaced between the first look and the watch.
    endIfReplaced();
  });
}

async function readIdentity(path: string): Promise<{ inode: string; isDirectory: boolean } | undefined> {
  try {
    const status = await stat(path, { bigint: true });
    return { inode: `${status.dev}:${status.ino}`, isDirectory: status.isDirectory() };
  } catch {
    return undefined;
  }
}
