import type { Duplex } from "node:stream";
import type { SendWindows } from "./flow-control.ts";
import { encodeDataHeader } from "./frames.ts";

/** Sends the frames of one connection: control frames at once, data as fast as it is taken. */
export interface FrameWriter {
  control(frame: Buffer): void;
  /**
   * Sends a piece. `done` is called when all of it has been handed to the connection. A stream sends one piece at a
   * time.
   */
  data(piece: DataPiece): void;
  /** Continues with the pieces that waited for a window. */
  resume(): void;
  /** Drops the data that the stream still had to send, without calling `done`. */
  forget(streamId: number): void;
}

interface DataPiece {
  readonly streamId: number;
  readonly bytes: Buffer;
  readonly fin: boolean;
  readonly done: () => void;
}

/** Larger pieces are cut, so that no stream keeps the others waiting for long. */
const MAX_DATA_BYTES = 64 * 1024;

/**
 * The socket's buffer is the only one. While it is full, each stream waits with one piece, first come, first served.
 */
export function createFrameWriter(socket: Duplex, windows: SendWindows): FrameWriter {
  const waiting: DataPiece[] = [];

  const writeData = (streamId: number, bytes: Buffer, fin: boolean) => {
    const header = encodeDataHeader(streamId, bytes.length, fin);
    windows.sent(streamId, bytes.length);
    if (bytes.length === 0) {
      socket.write(header);
      return;
    }
    socket.cork();
    socket.write(header);
    socket.write(bytes);
    socket.uncork();
  };

  /**
   * How many bytes of the piece may go now; undefined where the piece must wait. An end without bytes needs no window.
   */
  const roomFor = ({ streamId, bytes }: DataPiece): number | undefined => {
    const room = Math.min(windows.room(streamId), MAX_DATA_BYTES);
    return bytes.length > 0 && room <= 0 ? undefined : Math.min(room, bytes.length);
  };

  const flush = () => {
    while (socket.writable && !socket.writableNeedDrain) {
      const index = waiting.findIndex((piece) => roomFor(piece) !== undefined);
      const piece = waiting[index];
      if (piece === undefined) return;
      waiting.splice(index, 1);
      const { streamId, bytes, fin, done } = piece;
      const length = Math.max(0, roomFor(piece) ?? 0);
      const rest = bytes.subarray(length);
      writeData(streamId, bytes.subarray(0, length), fin && rest.length === 0);
      if (rest.length === 0) done();
      else waiting.push({ ...piece, bytes: rest });
    }
  };
  socket.on("drain", flush);

  return {
    control: (frame) => {
      if (socket.writable) socket.write(frame);
    },
    data(piece) {
      waiting.push(piece);
      flush();
    },
    resume: flush,
    forget(streamId) {
      const index = waiting.findIndex((piece) => piece.streamId === streamId);
      if (index >= 0) waiting.splice(index, 1);
    },
  };
}
