import { crash, runInBackground } from "../../base/tasks.ts";
import type { MemoryEntry } from "./memory-entry.ts";

/** The watches on directories of a memory tree. */
interface Watchers {
  /** Tells the watchers of the directory, after the current turn. */
  changed(directory: MemoryEntry): void;
  /** Resolves when the signal fires or the directory is no longer where it was. */
  watch(watch: DirectoryWatch, signal: AbortSignal): Promise<void>;
}

interface DirectoryWatch {
  path: string;
  entry: MemoryEntry;
  /** Whether `path` still leads to `entry`. */
  isThere(): boolean;
  onChange(): void;
}

/** `beforeNotify` may throw: that notification is then lost, as inotify loses them when its queue overflows. */
export function createWatchers(beforeNotify: (path: string) => Promise<void>): Watchers {
  const watches = new Set<ActiveWatch>();

  const notify = async (watch: ActiveWatch) => {
    try {
      await beforeNotify(watch.path);
    } catch {
      watch.isPending = false;
      return;
    }
    watch.isPending = false;
    if (!watches.has(watch)) return;
    const isThere = watch.isThere();
    watch.onChange();
    if (!isThere) watch.end();
  };

  return {
    changed(directory) {
      for (const watch of watches) {
        if (watch.entry !== directory || watch.isPending) continue;
        watch.isPending = true;
        runInBackground(async () => await notify(watch), crash);
      }
    },
    async watch(watch, signal) {
      if (signal.aborted) return;
      await new Promise<void>((resolve) => {
        const end = () => {
          watches.delete(active);
          signal.removeEventListener("abort", end);
          resolve();
        };
        const active: ActiveWatch = { ...watch, isPending: false, end };
        watches.add(active);
        signal.addEventListener("abort", end, { once: true });
        watch.onChange();
      });
    },
  };
}

interface ActiveWatch extends DirectoryWatch {
  /** A notification is under way: further changes join it. */
  isPending: boolean;
  end(): void;
}
