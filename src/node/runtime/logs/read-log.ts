import { isAbort, sleep } from "../../../base/abort.ts";
import { createChangeFlag } from "../../../base/change-flag.ts";
import { MINUTE } from "../../../base/clock.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import { type ContainerEndDeps, untilContainerEnds } from "./container-end.ts";
import type { LogOptions } from "./log-options.ts";
import { createLogOutput } from "./log-output.ts";
import { type LogPlace, openLogIfThere } from "./log-place.ts";
import { createLogReader, type LogReader, type LogReaderTarget, type WriteOutput } from "./log-reader.ts";
import { createLogSegments, type LogSegments, type LogSegmentsDeps } from "./log-segments.ts";

export type ReadLogDeps = ContainerEndDeps & LogSegmentsDeps;

/**
 * Why a container's log cannot be read; the client is told the message:
 * - `no-container`: the runtime does not say where the container writes;
 * - `elsewhere`: the container writes to a place that is not of a pod of this node;
 * - `missing`: there is no log;
 * - `unreadable`: there is something that cannot be opened as a log.
 */
export class ContainerLogError extends CodedError<"no-container" | "elsewhere" | "missing" | "unreadable"> {
  override readonly name = "ContainerLogError";
}

/** The log of one container. */
interface ContainerLog {
  readonly containerId: string;
  readonly place: LogPlace;
}

/**
 * Writes the wanted part of a container's log, and with `follow` also what is added until the container has ended. It
 * follows upstream's ReadLogs (staging/src/k8s.io/cri-client/pkg/logs/logs.go), but loses nothing where the file is
 * rotated. Rejects with a ContainerLogError; when the signal fires, it rejects with AbortedError or resolves early. It
 * holds one portion of the log at a time, and reads on when that is written.
 */
export async function readLog(
  deps: ReadLogDeps,
  log: ContainerLog,
  to: { readonly options: LogOptions; readonly write: WriteOutput; readonly signal: AbortSignal },
): Promise<void> {
  const { options, write, signal } = to;
  const output = createLogOutput(options);
  const file = await openLogSoon(deps, log.place, signal);
  const reader = await createLogReader(file, { output, write, signal }, options);
  if (!options.follow) {
    try {
      await reader.readToEnd();
    } finally {
      await reader.close();
    }
    return;
  }
  const changed = createChangeFlag(deps.clock);
  const segments = createLogSegments(deps, { place: log.place, first: file, onChange: changed.raise });
  const readers = createReaders({ segments, output, write, signal }, reader);
  try {
    await runWithTasks(signal, async (tasks, inner) => {
      let hasEnded = false;
      tasks.spawn("segments", async () => await segments.run(inner));
      tasks.spawn("container", async () => {
        await untilContainerEnds(deps, log.containerId, inner);
        hasEnded = true;
        changed.raise();
      });
      while (!inner.aborted) {
        const isLastTime = hasEnded;
        if (isLastTime) await segments.look();
        await readers.readOn();
        if (output.isComplete || isLastTime) break;
        if (!hasEnded) await changed.wait(MINUTE, inner);
      }
      if (!inner.aborted) await readers.finish();
    });
  } finally {
    await readers.close();
    await segments.close();
  }
}

/** A log has no name for a moment while it is rotated, so that the open is tried several times. */
const ATTEMPTS = 10;
const ATTEMPT_PERIOD_MS = 100;

async function openLogSoon({ files, clock }: ReadLogDeps, place: LogPlace, signal: AbortSignal): Promise<OpenedFile> {
  const path = `${place.root}/${place.path}`;
  try {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const file = await openLogIfThere(files, place);
      if (file !== undefined) return file;
      if (attempt < ATTEMPTS) await sleep(clock, ATTEMPT_PERIOD_MS, signal);
    }
  } catch (error) {
    if (isAbort(error)) throw error;
    const message = `failed to open log file ${JSON.stringify(path)}: ${messageOf(error)}`;
    throw new ContainerLogError("unreadable", message, { cause: error });
  }
  const why = `lstat ${path}: no such file or directory`;
  throw new ContainerLogError("missing", `failed to try resolving symlinks in path ${JSON.stringify(path)}: ${why}`);
}

interface Readers {
  /** Reads on in all open files, in their order. */
  readOn(): Promise<void>;
  finish(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the file that has the log's name, and the one before it. A runtime that reopens a log makes the new file first, and
 * still writes its pending output to the old one. The old file is read until another new file appears.
 */
function createReaders(to: { readonly segments: LogSegments } & LogReaderTarget, first: LogReader): Readers {
  const open = [first];
  return {
    async readOn() {
      for (const reader of open) await reader.readOn();
      for (let file = to.segments.take(); file !== undefined; file = to.segments.take()) {
        const next = await createLogReader(file, to);
        open.push(next);
        if (open.length > 2) await finishOldest(open);
        for (const reader of open) await reader.readOn();
      }
    },
    async finish() {
      for (const reader of open) await reader.finish();
    },
    async close() {
      for (const reader of open.splice(0)) await reader.close();
    },
  };
}

async function finishOldest(open: LogReader[]): Promise<void> {
  const oldest = open.shift();
  try {
    await oldest?.readOn();
    await oldest?.finish();
  } finally {
    await oldest?.close();
  }
}
