import { sleep } from "../../../base/abort.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import type { Clock } from "../../../base/clock.ts";
import { SECOND } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import type { Files } from "../../../host/port.ts";
import { type LogPlace, openLogIfThere } from "./log-place.ts";

/**
 * The files that have one log's name, one after the other. They are noticed when they come, and not when somebody has
 * read so far: a client that reads slowly loses nothing to two rotations.
 */
export interface LogSegments {
  /** Watches until the signal fires. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks now, so that what has the name already is known. */
  look(): Promise<void>;
  /** The file that came after this one; undefined where none has. The caller closes it. */
  take(): OpenedFile | undefined;
  /** Closes those that nobody took. After `run`. */
  close(): Promise<void>;
}

export interface LogSegmentsDeps {
  readonly files: Pick<Files, "openBeneath" | "watch">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A file that is held open takes its place on the disk. Past this the oldest that nobody has begun to read is let go. */
const MAX_WAITING = 4;
/** Each write of the container is told; to look for another file so often is often enough. */
const LOOK_PERIOD_MS = 100;
/** How often to look where the directory cannot be watched. Upstream looks so often in any case. */
const UNWATCHED_PERIOD_MS = SECOND;

/** `onChange`: the log may have grown, or another file has its name. */
export function createLogSegments(
  { files, clock, log }: LogSegmentsDeps,
  { place, first, onChange }: { place: LogPlace; first: OpenedFile; onChange: () => void },
): LogSegments {
  const waiting: OpenedFile[] = [];
  const changed = createChangeFlag(clock);
  let newest = first;
  const directory = `${place.root}/${place.path.slice(0, place.path.lastIndexOf("/"))}`;

  const look = async () => {
    const file = await openLogIfThere(files, place);
    if (file === undefined) return;
    if (file.identity === newest.identity) {
      await file.close();
      return;
    }
    newest = file;
    waiting.push(file);
    if (waiting.length > MAX_WAITING) {
      log.warn("a client reads a container's log so slowly that a rotated file is left out", { path: place.path });
      await waiting.shift()?.close();
    }
    onChange();
  };
  const watch = async (signal: AbortSignal) => {
    const tell = () => {
      changed.raise();
      onChange();
    };
    while (!signal.aborted) {
      try {
        await files.watch(directory, tell, signal);
      } catch (error) {
        log.debug("cannot watch a container's logs", { directory, error: messageOf(error) });
      }
      if (signal.aborted) return;
      await sleep(clock, UNWATCHED_PERIOD_MS, signal);
      tell();
    }
  };

  return {
    look,
    async run(signal) {
      await runWithTasks(signal, async (tasks, inner) => {
        tasks.spawn("watch", async () => await watch(inner));
        while (!inner.aborted) {
          await changed.wait(UNTOLD_MS, inner);
          await look();
          await sleep(clock, LOOK_PERIOD_MS, inner);
        }
      });
    },
    take: () => waiting.shift(),
    async close() {
      for (const file of waiting.splice(0)) await file.close();
    },
  };
}

/** To look once in a while although nothing was told: inotify loses what its queue has no room for. */
const UNTOLD_MS = 10 * SECOND;
