import { open } from "node:fs/promises";
import { codeOf } from "../base/errors.ts";
import { isMarkedEmpty } from "./log-reserve.ts";

/**
 * The content of SQLite's write-ahead log since the log last began anew. SQLite takes it up to the last complete
 * transaction and does not report the rest; these frames show that there was a rest. The format is fixed:
 * https://www.sqlite.org/fileformat2.html#walformat
 */
export interface WalFrames {
  /** Tells for each frame whether a transaction ends with it. */
  readonly ends: readonly boolean[];
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The salt stands in the log's header and in each frame's: two numbers that change whenever the log begins anew. */
const SALT_IN_HEADER = 16;
const SALT_IN_FRAME = 8;
const SALT_BYTES = 8;
const END_IN_FRAME = 4;
const MAGIC = [0x377f0682, 0x377f0683];

/**
 * Reads the frames of a log that no process has open; none when there is no log. A frame that was only begun counts as
 * one.
 */
export async function readWalFrames(path: string, pageBytes: number): Promise<WalFrames> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return { ends: [] };
  try {
    const readAt = async (position: number, length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    };
    const ends: boolean[] = [];
    const header = await readAt(0, HEADER_BYTES);
    if (isMarkedEmpty(header)) return { ends };
    let salt = saltOfHeader(header);
    for (let position = HEADER_BYTES; ; position += FRAME_HEADER_BYTES + pageBytes) {
      const frame = await readAt(position, FRAME_HEADER_BYTES);
      const frameSalt = frame.subarray(SALT_IN_FRAME, SALT_IN_FRAME + SALT_BYTES);
      // SQLite uses nothing of a log whose header makes no sense. The frames then tell what was lost.
      salt ??= frameSalt;
      if (frame.length < FRAME_HEADER_BYTES || !frameSalt.equals(salt)) return { ends };
      ends.push(frame.readUInt32BE(END_IN_FRAME) !== 0);
    }
  } finally {
    await file.close();
  }
}

/**
 * True if some of the frames that SQLite did not take had been acknowledged. A transaction begins when the one before
 * is on disk, so a torn write is part of the last one. Anything after the end of a transaction means that more was
 * lost. An end that damage forged counts too: a false report of a loss costs some revisions, and an unreported loss
 * would give revisions out twice.
 */
export function isAcknowledgedLost({ ends }: WalFrames, taken: number): boolean {
  const lost = ends.slice(taken);
  const firstEnd = lost.indexOf(true);
  return firstEnd >= 0 && firstEnd < lost.length - 1;
}

function saltOfHeader(header: Buffer): Buffer | undefined {
  if (header.length < HEADER_BYTES || !MAGIC.includes(header.readUInt32BE(0))) return undefined;
  return header.subarray(SALT_IN_HEADER, SALT_IN_HEADER + SALT_BYTES);
}
