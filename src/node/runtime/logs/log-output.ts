import type { LogOptions } from "./log-options.ts";
import type { LogPiece } from "./log-records.ts";
import { formatFixed, isBefore } from "./log-time.ts";

/** Turns the pieces of a log into the bytes for the client. */
export interface LogOutput {
  /** Returns the bytes to send; empty where none of the pieces is wanted. */
  take(pieces: readonly LogPiece[]): Buffer;
  /** Nothing that follows is wanted any more. */
  readonly isComplete: boolean;
}

type OutputOptions = Pick<LogOptions, "follow" | "timestamps" | "tailLines" | "limitBytes" | "since" | "stream">;

const NEWLINE = 0x0a;

/**
 * Follows upstream's logWriter and ReadLogs (staging/src/k8s.io/cri-client/pkg/logs/logs.go): `limitBytes` counts the bytes
 * that are sent, timestamps included. Unless the log is followed, reading ends after `tailLines` lines, even if more were
 * added meanwhile.
 */
export function createLogOutput(options: OutputOptions): LogOutput {
  let bytesLeft = options.limitBytes ?? Number.POSITIVE_INFINITY;
  let recordsLeft = options.follow ? Number.POSITIVE_INFINITY : (options.tailLines ?? Number.POSITIVE_INFINITY);
  let isLineStart = true;

  const isWanted = ({ header }: LogPiece) => {
    if (options.since !== undefined && isBefore(header.time, options.since)) return false;
    return options.stream === "All" || options.stream.toLowerCase() === header.stream;
  };
  const isComplete = () => bytesLeft <= 0 || recordsLeft <= 0;

  return {
    take(pieces) {
      const parts: Buffer[] = [];
      const send = (bytes: Buffer) => {
        const sent = bytes.length > bytesLeft ? bytes.subarray(0, bytesLeft) : bytes;
        bytesLeft -= sent.length;
        parts.push(sent);
      };
      for (const piece of pieces) {
        if (isComplete()) break;
        if (isWanted(piece)) {
          if (options.timestamps && isLineStart) send(Buffer.from(`${formatFixed(piece.header.timeText)} `));
          send(piece.content);
          // A line that the runtime has split ends with the record that has its newline.
          isLineStart = piece.isLast && (piece.content.length === 0 || piece.content.at(-1) === NEWLINE);
        }
        if (piece.isLast) recordsLeft--;
      }
      return Buffer.concat(parts);
    },
    get isComplete() {
      return isComplete();
    },
  };
}
