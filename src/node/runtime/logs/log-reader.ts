import type { OpenedFile } from "../../../host/opened-file.ts";
import { findTailStart } from "./find-tail.ts";
import type { LogOutput } from "./log-output.ts";
import { createLogRecords } from "./log-records.ts";

/** Where output goes; resolves when there is room for more, and rejects with AbortedError when nobody wants it any more. */
export type WriteOutput = (bytes: Buffer) => Promise<void>;

/** One log file on its way to a client. One call at a time. */
export interface LogReader {
  /** Reads on to where the file ends now, or to the end of what is wanted. */
  readOn(): Promise<void>;
  /** Reads on to where the file ended when this was called, and gives up what is no whole record there. */
  readToEnd(): Promise<void>;
  /** Gives what was held back of a record that is not whole. For the end of the log. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

interface LogReaderOptions {
  /** Default: from its beginning. */
  readonly tailLines?: number | undefined;
}

/** What is read, parsed and sent at a time, and what one reader takes of the memory. */
const PORTION_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Takes the file over: closes it, also when this rejects. */
export async function createLogReader(
  file: OpenedFile,
  to: { readonly output: LogOutput; readonly write: WriteOutput },
  { tailLines }: LogReaderOptions = {},
): Promise<LogReader> {
  const records = createLogRecords();
  let position = await startOf(file, tailLines);

  const send = async (bytes: Buffer) => {
    if (bytes.length > 0) await to.write(bytes);
  };
  /** False at the end of the file. `until`: the file's part that is wanted, and the record that goes over its end. */
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
        // Emptied in place, as logrotate's copytruncate does: what there is now is all new.
        position = 0;
        records.reset();
      }
      while (!to.output.isComplete && (await readPortion()));
    },
    async readToEnd() {
      const { sizeBytes } = await file.status();
      // A container that writes faster than the client reads must not make this endless.
      const isBehind = () => position < sizeBytes || records.isWithinRecord;
      while (!to.output.isComplete && isBehind() && (await readPortion(sizeBytes)));
      await send(to.output.take(records.end()));
    },
    finish: async () => await send(to.output.take(records.end())),
    close: async () => await file.close(),
  };
}

/** The beginning, to the end of the line that goes over `at`. */
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
