import { aborted } from "../base/abort.ts";
import { type Clock, MINUTE, SECOND, type Timer } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { repeat } from "../base/interval.ts";
import { createLimiter } from "../base/limiter.ts";
import type { Log } from "../base/log.ts";
import { runInBackground } from "../base/tasks.ts";
import type { Timeline, TimelineRecord } from "../base/timeline.ts";
import type { Files } from "../host/port.ts";
import { type HistoryWriter, openHistoryWriter } from "./history-files.ts";
import { formatHistoryLine } from "./history-line.ts";
import { type HistoryAnswer, type HistoryQuery, readHistory } from "./read-history.ts";
import { sweepHistory } from "./sweep-history.ts";

/** The decisions about pods on the disk: they outlive the node agent, and the pods for a time. */
export interface PodHistory {
  /** Reads what is on the disk, and what is on its way there. */
  read(query: HistoryQuery): Promise<HistoryAnswer>;
  /** Writes until the signal fires, and then what is left. The disk's failures are logged, and cost the history only. */
  run(signal: AbortSignal): Promise<void>;
}

interface PodHistoryDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly log: Log;
  readonly timeline: Pick<Timeline, "subscribe">;
  /** Called once for each sweep; what it returns tells whether the pod with a UID is still there. */
  present(): (uid: string) => boolean;
}

export interface HistoryOptions {
  readonly directory: string;
  /** The bytes of all files together; the oldest records go first. */
  readonly maxBytes: number;
  /** How long the records of a pod that is gone are kept. */
  readonly maxAgeMs: number;
}

/** A record is written this long after it was made, together with what came meanwhile. */
const WRITE_DELAY_MS = SECOND;
const RETRY_DELAY_MS = 30 * SECOND;
/** How long the end of the node agent waits for the disk. */
const LAST_WRITE_MS = 2 * SECOND;
const SWEEP_MS = 360 * MINUTE;
/** While the disk takes nothing the oldest lines beyond these are lost. */
const MAX_WAITING_LINES = 4_096;
/** Pods whose last decision was repeated since it was written. */
const MAX_REPEATED = 1_000;

/** Follows the timeline from now on. */
export function createPodHistory(deps: PodHistoryDeps, options: HistoryOptions): PodHistory {
  const { files, clock, log } = deps;
  const { directory } = options;
  const intake = createHistoryIntake();
  const disk = createLimiter(1);
  let writer: HistoryWriter | undefined;
  let timer: Timer | undefined;
  let isFailing = false;
  let isRunning = false;

  const write = async () => {
    const lines = intake.take();
    if (lines.length === 0) return;
    try {
      writer ??= await openHistoryWriter({ files, log }, options);
      await writer.append(lines.join(""));
      if (isFailing) log.info("The history of pods is written again", { lost: intake.lost });
      isFailing = false;
    } catch (error) {
      intake.putBack(lines);
      const message = "The history of pods cannot be written; nodelet explain will not know what happens meanwhile";
      if (!isFailing) log.warn(message, { directory, error: messageOf(error) });
      isFailing = true;
    }
  };
  const writeInTurn = async () => await disk.run(write);
  const complain = (error: unknown) => log.warn("The history of pods has failed", { error: messageOf(error) });
  const writeSoon = () => {
    if (timer !== undefined || !isRunning) return;
    timer = clock.setTimer(isFailing ? RETRY_DELAY_MS : WRITE_DELAY_MS, () => {
      timer = undefined;
      runInBackground(async () => {
        await writeInTurn();
        if (intake.isWaiting()) writeSoon();
      }, complain);
    });
  };
  const unsubscribe = deps.timeline.subscribe((record) => {
    intake.add(record);
    writeSoon();
  });
  const sweep = async () => {
    const keeping = { directory, now: clock.now(), maxAgeMs: options.maxAgeMs, isPresent: deps.present() };
    await disk
      .run(async () => await sweepHistory(files, keeping))
      .catch((error: unknown) =>
        log.warn("Old records of the history of pods were not removed", { directory, error: messageOf(error) }),
      );
  };

  return {
    async read(query) {
      intake.writeRepeated();
      await writeInTurn();
      return await disk.run(async () => await readHistory(files, directory, query));
    },
    async run(signal) {
      isRunning = true;
      writeSoon();
      const sweeping = repeat(clock, { periodMs: SWEEP_MS, signal }, sweep).catch(() => undefined);
      await aborted(signal);
      isRunning = false;
      timer?.cancel();
      unsubscribe();
      await sweeping;
      intake.writeRepeated();
      // A disk that hangs does not hold the end of the node agent up.
      await new Promise<void>((resolve) => {
        const limit = clock.setTimer(LAST_WRITE_MS, resolve);
        runInBackground(async () => {
          await writeInTurn();
          limit.cancel();
          resolve();
        }, complain);
      });
    },
  };
}

/** The lines that wait to be written. */
function createHistoryIntake() {
  let lines: string[] = [];
  /** The newest counts of decisions that were repeated, and not written since; by UID. */
  const repeated = new Map<string, TimelineRecord>();
  let lost = 0;

  const push = (record: TimelineRecord) => {
    lines.push(formatHistoryLine(record));
    if (lines.length <= MAX_WAITING_LINES) return;
    lines.shift();
    lost++;
  };
  const pushRepeated = (uid: string) => {
    const record = repeated.get(uid);
    if (record === undefined) return;
    repeated.delete(uid);
    push(record);
  };
  return {
    /**
     * Takes a record. Of a decision that is made again and again only each doubling of its count is written, and the
     * last count before something else is decided about the pod: a probe that fails each second fills no disk.
     */
    add(record: TimelineRecord): void {
      const { uid } = record.pod;
      if (record.count > 1 && !Number.isInteger(Math.log2(record.count))) {
        repeated.set(uid, record);
        const [oldest] = repeated.keys();
        if (repeated.size > MAX_REPEATED && oldest !== undefined) pushRepeated(oldest);
        return;
      }
      if (record.count === 1) pushRepeated(uid);
      else repeated.delete(uid);
      push(record);
    },
    writeRepeated(): void {
      for (const uid of [...repeated.keys()]) pushRepeated(uid);
    },
    isWaiting: () => lines.length > 0,
    take(): readonly string[] {
      const taken = lines;
      lines = [];
      return taken;
    },
    putBack(taken: readonly string[]): void {
      const all = [...taken, ...lines];
      lost += Math.max(0, all.length - MAX_WAITING_LINES);
      lines = all.slice(-MAX_WAITING_LINES);
    },
    get lost() {
      return lost;
    },
  };
}
