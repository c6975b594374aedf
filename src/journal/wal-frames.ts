import { open } from "node:fs/promises";
import { codeOf } from "../base/errors.ts";

/**
 * What lies in SQLite's write-ahead log since it was begun anew the last time. SQLite takes it up to the last complete
 * transaction and says nothing about the rest; this is how we know that there was a rest.
 * The format is fixed: https://www.sqlite.org/fileformat2.html#walformat
 */
export interface WalFrames {
  /** For each frame whether a transaction ends with it. */
  readonly ends: readonly boolean[];
}

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** Of the log's header and of each frame's: two numbers that are others whenever the log is begun anew. */
const SALT_IN_HEADER = 16;
const SALT_IN_FRAME = 8;
const SALT_BYTES = 8;
const END_IN_FRAME = 4;
const MAGIC = [0x377f0682, 0x377f0683];

/** The frames of a log that nobody has open; none when there is no log. A frame that was begun counts as one. */
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
    let salt = saltOfHeader(await readAt(0, HEADER_BYTES));
    for (let position = HEADER_BYTES; ; position += FRAME_HEADER_BYTES + pageBytes) {
      const frame = await readAt(position, FRAME_HEADER_BYTES);
      const frameSalt = frame.subarray(SALT_IN_FRAME, SALT_IN_FRAME + SALT_BYTES);
      // A log whose header makes no sense is one of which SQLite uses nothing: its frames tell what was lost.
      salt ??= frameSalt;
      if (frame.length < FRAME_HEADER_BYTES || !frameSalt.equals(salt)) return { ends };
      ends.push(frame.readUInt32BE(END_IN_FRAME) !== 0);
    }
  } finally {
    await file.close();
  }
}

/**
 * Of frames that SQLite did not take: whether some had been acknowledged. A transaction is begun when the one before is
 * on disk, so a torn write is part of the last one. Anything after the end of a transaction means that more is gone.
 * An end that damage forged counts too: a loss told of in vain costs some revisions, one kept secret gives them twice.
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
