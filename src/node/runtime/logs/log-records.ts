import { type LogTime, parseLogTime } from "./log-time.ts";

/**
 * A piece of one record of a container's log. Most records are one piece. Records that are longer than the buffer, which
 * runtimes without a limit on lines write, come in several pieces.
 */
export interface LogPiece {
  readonly header: LogHeader;
  /** Ends with a newline where the line ends with this piece. */
  readonly content: Buffer;
  /** The record ends with this piece. */
  readonly isLast: boolean;
}

/** The header that CRI writes before a line: `2026-01-02T03:04:05.000000000Z stdout F `. */
interface LogHeader {
  readonly timeText: string;
  readonly time: LogTime;
  readonly stream: "stdout" | "stderr";
  /** The runtime split the line (tag `P`): its rest is in a later record. */
  readonly isPartial: boolean;
}

/** Splits the bytes of a log, in portions of any size, into pieces of records. It holds at most a record's beginning. */
interface LogRecords {
  push(bytes: Buffer): LogPiece[];
  /** The log ends here, whether its last record is whole or not. */
  end(): LogPiece[];
  /** Forgets what is held. The file was truncated, so that the next bytes do not continue the previous ones. */
  reset(): void;
  /** The last record that was pushed is incomplete. */
  readonly isWithinRecord: boolean;
  /** How many lines were no records so far; they are left out. */
  readonly unreadable: number;
}

/** How much is held. It is more than the length at which runtimes split lines (16 KiB), and than any header. */
const MAX_HELD_BYTES = 64 * 1024;
/**
 * A longer header is none. Runtimes write about 40 bytes. Without a limit below that of what is held, a line of a hostile
 * container would be a record or not, depending on how the file's bytes happen to arrive.
 */
const MAX_HEADER_BYTES = 1024;
const NEWLINE = 0x0a;
const SPACE = 0x20;

type State =
  | { readonly kind: "between"; readonly held: Buffer }
  /** The record's first pieces have been returned. */
  | { readonly kind: "inside"; readonly header: LogHeader }
  /** The line is no record. */
  | { readonly kind: "skipping" };

const BETWEEN: State = { kind: "between", held: Buffer.alloc(0) };

export function createLogRecords(): LogRecords {
  let state: State = BETWEEN;
  let unreadable = 0;

  /** The bytes of a whole record or, without a newline at the end, of the beginning of one. */
  const read = (bytes: Buffer, isLast: boolean): LogPiece | undefined => {
    const found = readHeader(bytes);
    if (found === undefined) {
      unreadable++;
      return undefined;
    }
    return pieceOf(found.header, bytes.subarray(found.length), isLast);
  };
  const begin = (bytes: Buffer): LogPiece[] => {
    if (bytes.length <= MAX_HELD_BYTES) {
      state = { kind: "between", held: bytes };
      return [];
    }
    const piece = read(bytes, false);
    state = piece === undefined ? { kind: "skipping" } : { kind: "inside", header: piece.header };
    return piece === undefined ? [] : [piece];
  };
  /** What belongs to a record that has begun before; gives how many bytes that are. */
  const goOn = (bytes: Buffer, pieces: LogPiece[]): number => {
    if (state.kind === "between") return 0;
    const newline = bytes.indexOf(NEWLINE);
    const length = newline < 0 ? bytes.length : newline + 1;
    if (state.kind === "inside") pieces.push(pieceOf(state.header, bytes.subarray(0, length), newline >= 0));
    if (newline >= 0) state = BETWEEN;
    return length;
  };

  return {
    push(bytes) {
      const pieces: LogPiece[] = [];
      const all = state.kind === "between" && state.held.length > 0 ? Buffer.concat([state.held, bytes]) : bytes;
      let at = goOn(all, pieces);
      if (state.kind !== "between") return pieces;
      for (let newline = all.indexOf(NEWLINE, at); newline >= 0; newline = all.indexOf(NEWLINE, at)) {
        const piece = read(all.subarray(at, newline + 1), true);
        if (piece !== undefined) pieces.push(piece);
        at = newline + 1;
      }
      pieces.push(...begin(all.subarray(at)));
      return pieces;
    },
    end() {
      const piece = state.kind === "between" && state.held.length > 0 ? read(state.held, true) : undefined;
      state = BETWEEN;
      return piece === undefined ? [] : [piece];
    },
    reset() {
      state = BETWEEN;
    },
    get isWithinRecord() {
      return state.kind !== "between" || state.held.length > 0;
    },
    get unreadable() {
      return unreadable;
    },
  };
}

function pieceOf(header: LogHeader, bytes: Buffer, isLast: boolean): LogPiece {
  const endsLine = isLast && header.isPartial && bytes.at(-1) === NEWLINE;
  return { header, content: endsLine ? bytes.subarray(0, -1) : bytes, isLast };
}

/** Upstream: staging/src/k8s.io/cri-client/pkg/logs/logs.go, parseCRILog. Further tags are for later versions. */
function readHeader(bytes: Buffer): { header: LogHeader; length: number } | undefined {
  const timeEnd = bytes.indexOf(SPACE);
  const streamEnd = timeEnd < 0 ? -1 : bytes.indexOf(SPACE, timeEnd + 1);
  const tagEnd = streamEnd < 0 ? -1 : bytes.indexOf(SPACE, streamEnd + 1);
  if (tagEnd < 0 || tagEnd > MAX_HEADER_BYTES) return undefined;
  const timeText = bytes.toString("latin1", 0, timeEnd);
  const time = parseLogTime(timeText);
  const stream = bytes.toString("latin1", timeEnd + 1, streamEnd);
  if (time === undefined || (stream !== "stdout" && stream !== "stderr")) return undefined;
  const [tag] = bytes.toString("latin1", streamEnd + 1, tagEnd).split(":");
  return { header: { timeText, time, stream, isPartial: tag === "P" }, length: tagEnd + 1 };
}
