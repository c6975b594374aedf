import { throwIfAborted } from "../../../base/abort.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import { findTailStart } from "./find-tail.ts";
import type { LogOutput } from "./log-output.ts";
import { createLogRecords } from "./log-records.ts";

/** Writes output; resolves when there is room for more, and rejects with AbortedError when the client has gone. */
export type WriteOutput = (bytes: Buffer) => Promise<void>;

/** Reads one log file for a client. Calls come one at a time. */
export interface LogReader {
  /** Reads on to where the file ends now, or to the end of what is wanted. */
  readOn(): Promise<void>;
  /** Reads on to where the file ended at the time of the call, and sends an incomplete last record too. */
  readToEnd(): Promise<void>;
  /** Sends the part of an incomplete record that was held back. It is called at the end of the log. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

interface LogReaderOptions {
  /** Default: from its beginning. */
  readonly tailLines?: number | undefined;
}

/** How much is read, parsed and sent at a time, which bounds the memory of one reader. */
const PORTION_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Where a reader's output goes. */
export interface LogReaderTarget {
  readonly output: LogOutput;
  readonly write: WriteOutput;
  /** Fires when the client has gone. All calls reject with AbortedError then, also where there was nothing to write. */
  readonly signal: AbortSignal;
}

/** Makes a reader that owns the file. The file is closed even where this rejects. */
export async function createLogReader(
  opened: OpenedFile,
  to: LogReaderTarget,
  { tailLines }: LogReaderOptions = {},
): Promise<LogReader> {
  const file = readWhile(opened, to.signal);
  const records = createLogRecords();
  let position = await startOf(file, tailLines);

  const send = async (bytes: Buffer) => {
    if (bytes.length > 0) await to.write(bytes);
  };
  /** Reads a portion; false at the end of the file. Reading ends with the line that crosses `until`. */
  const readPortion = async (until = Number.POSITIVE_INFINITY): Promise<boolean> => {
    const read = await file.read(position, PORTION_BYTES);
    const bytes = position + read.length <= until ? read : upToLine(read, Math.max(0, until - position - 1));
    position += bytes.length;
    await send(to.output.take(records.push(bytes)));
    return bytes.length > 0;
  };

  return {
    async readOn() {
      const { sizeBytes } = await file.status();
      if (sizeBytes < position) {
        // The file was emptied in place, as logrotate's copytruncate does, so that all of its content is new.
        position = 0;
        records.reset();
      }
      while (!to.output.isComplete && (await readPortion()));
    },
    async readToEnd() {
      const { sizeBytes } = await file.status();
      // The size is read once, so that a container which writes faster than the client reads does not make this endless.
      const isBehind = () => position < sizeBytes || records.isWithinRecord;
      while (!to.output.isComplete && isBehind() && (await readPortion(sizeBytes)));
      await send(to.output.take(records.end()));
    },
    finish: async () => await send(to.output.take(records.end())),
    close: async () => await file.close(),
  };
}

/** A pod that can write to the logs' directory may put a file of any length there, of which nothing is written. */
function readWhile(file: OpenedFile, signal: AbortSignal): OpenedFile {
  return {
    ...file,
    async read(position, maxBytes) {
      throwIfAborted(signal);
      return await file.read(position, maxBytes);
    },
  };
}

/** The bytes up to the end of the line that contains the position `at`. */
function upToLine(bytes: Buffer, at: number): Buffer {
  const newline = bytes.indexOf(NEWLINE, at);
  return newline < 0 ? bytes : bytes.subarray(0, newline + 1);
}

async function startOf(file: OpenedFile, tailLines: number | undefined): Promise<number> {
  if (tailLines === undefined) return 0;
  try {
    return await findTailStart(file, { lines: tailLines, sizeBytes: (await file.status()).sizeBytes });
  } catch (error) {
    await file.close();
    throw error;
  }
}
