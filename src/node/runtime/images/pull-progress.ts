import { isAbort, sleep } from "../../../base/abort.ts";
import { formatByteSize } from "../../../base/byte-size.ts";
import { type Clock, SECOND } from "../../../base/clock.ts";
import { formatHumanDuration } from "../../../base/human-duration.ts";
import { runInBackground } from "../../../base/tasks.ts";
import type { Download } from "../../../cri/containerd-content.ts";

/** Tells how far pulls are that take long. */
export interface PullProgress {
  /** Settles as the pull does. Every half minute until then `tell` is called with what is known, such as `12.0MB of 80.1MB`. */
  during<T>(pull: () => Promise<T>, tell: (progress: string) => void): Promise<T>;
}

interface PullProgressDeps {
  readonly clock: Clock;
  /** Reads what is on its way to the machine, whoever asked for it. Undefined where no runtime can tell: only times are told. */
  readonly listDownloads: ((signal: AbortSignal) => Promise<readonly Download[]>) | undefined;
}

const TELL_PERIOD_MS = 30 * SECOND;
/** Between two readings. What comes and goes meanwhile is not counted. */
const READ_PERIOD_MS = 2 * SECOND;
/** A runtime that names more at a time is not followed further. */
const MAX_DOWNLOADS = 1_000;

/** A pull that runs, and what it had told last. */
interface RunningPull {
  readonly tell: (progress: string) => void;
  readonly startedAt: number;
  told: { readonly at: number; readonly bytes: number };
}

/** Creates the one account of all pulls of a node: the runtime does not tell which download is whose. */
export function createPullProgress({ clock, listDownloads }: PullProgressDeps): PullProgress {
  const running = new Set<RunningPull>();
  const known = new Map<string, KnownDownload>();
  let ending = new AbortController();

  const read = async (signal: AbortSignal) => {
    // A runtime that does not answer, or knows nothing of this, leaves what was known.
    const current = await listDownloads?.(signal).catch(() => undefined);
    if (current === undefined || signal.aborted) return;
    const there = new Map(current.slice(0, MAX_DOWNLOADS).map((download) => [download.ref, download]));
    for (const [ref, { bytesDone, bytesTotal }] of known) {
      // What is no longer written is there as a whole.
      if (!there.has(ref)) known.set(ref, { bytesDone: Math.max(bytesDone, bytesTotal), bytesTotal, isMoving: true });
    }
    for (const [ref, { bytesDone, bytesTotal }] of there) {
      const before = known.get(ref);
      if (before === undefined && known.size >= MAX_DOWNLOADS) continue;
      const isMoving = before !== undefined && (before.isMoving || before.bytesDone !== bytesDone);
      known.set(ref, { bytesDone, bytesTotal, isMoving });
    }
  };

  const follow = async (signal: AbortSignal) => {
    try {
      for (;;) {
        await sleep(clock, READ_PERIOD_MS, signal);
        await read(signal);
        for (const pull of running) if (clock.monotonic() - pull.told.at >= TELL_PERIOD_MS) tellOf(pull);
      }
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  };

  const tellOf = (pull: RunningPull) => {
    const now = clock.monotonic();
    const sum = sumOf(known.values());
    const perSecond = Math.max(0, (sum.done - pull.told.bytes) / ((now - pull.told.at) / SECOND));
    pull.told = { at: now, bytes: sum.done };
    const after = `after ${formatHumanDuration(now - pull.startedAt)}`;
    if (sum.total === 0) return pull.tell(after);
    const others = running.size === 1 ? "" : `, all ${running.size} pulls together`;
    pull.tell(`${formatProgress(sum)} ${after}, ${formatByteSize(perSecond)}/s${others}`);
  };

  return {
    async during(pull, tell) {
      const startedAt = clock.monotonic();
      const one: RunningPull = { tell, startedAt, told: { at: startedAt, bytes: sumOf(known.values()).done } };
      running.add(one);
      if (running.size === 1) {
        ending = new AbortController();
        const { signal } = ending;
        // Nothing more is told then; the pulls themselves go on.
        runInBackground(
          async () => await follow(signal),
          () => running.clear(),
        );
      }
      try {
        return await pull();
      } finally {
        running.delete(one);
        if (running.size === 0) {
          ending.abort();
          known.clear();
        }
      }
    },
  };
}

/** One that never moves may be the rest of a pull that failed, and is not counted. */
interface KnownDownload extends Omit<Download, "ref"> {
  readonly isMoving: boolean;
}

interface Bytes {
  readonly done: number;
  readonly total: number;
}

function sumOf(downloads: Iterable<KnownDownload>): Bytes {
  let [done, total] = [0, 0];
  for (const { bytesDone, bytesTotal, isMoving } of downloads) {
    if (!isMoving) continue;
    done += bytesDone;
    total += Math.max(bytesDone, bytesTotal);
  }
  return { done, total };
}

const formatProgress = ({ done, total }: Bytes) => `${formatByteSize(done)} of ${formatByteSize(total)}`;
