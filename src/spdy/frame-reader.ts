import {
  type ControlFrame,
  decodeControlFrame,
  decodeFrameHeader,
  FRAME_HEADER_BYTES,
  type FrameHeader,
} from "./frames.ts";
import { SpdyError } from "./spdy-error.ts";

/** Receives frames in the order in which they end, and the bytes of a data frame as soon as they are there. */
interface FrameSink {
  control(frame: ControlFrame): void;
  /** `fin` says that these are the stream's last bytes. There may be no bytes. */
  data(streamId: number, bytes: Buffer, fin: boolean): void;
}

/** Takes the bytes in any pieces. `push` throws `protocol-error`, after which the reader must not be used any more. */
export interface FrameReader {
  push(chunk: Buffer): void;
}

/**
 *   header ──8 bytes──▶ control ──all of it──▶ header
 *                  └──▶ data ──last byte──▶ header
 */
type State =
  | { readonly at: "header" }
  | { readonly at: "control"; readonly header: Extract<FrameHeader, { kind: "control" }> }
  | { readonly at: "data"; readonly header: Extract<FrameHeader, { kind: "data" }>; readonly left: number };

/** A control frame of more than `maxControlBytes` is an error. Data is never held back. */
export function createSpdyFrameReader(
  sink: FrameSink,
  { maxControlBytes }: { readonly maxControlBytes: number },
): FrameReader {
  let state: State = { at: "header" };
  /** The beginning of a header or of a control frame. */
  const held: Buffer[] = [];
  let heldBytes = 0;

  /**
   * Returns the next `length` bytes and the rest. Returns undefined where there are fewer, and keeps those for later.
   */
  const take = (chunk: Buffer, length: number): { bytes: Buffer; rest: Buffer } | undefined => {
    if (heldBytes + chunk.length < length) {
      held.push(chunk);
      heldBytes += chunk.length;
      return undefined;
    }
    const missing = length - heldBytes;
    const part = chunk.subarray(0, missing);
    const bytes = heldBytes === 0 ? part : Buffer.concat([...held, part]);
    held.length = 0;
    heldBytes = 0;
    return { bytes, rest: chunk.subarray(missing) };
  };

  const begin = (header: FrameHeader) => {
    if (header.kind === "control") {
      if (header.length > maxControlBytes) {
        throw new SpdyError("protocol-error", `the peer sent a control frame of ${header.length} bytes`);
      }
      state = { at: "control", header };
    } else if (header.length === 0) {
      sink.data(header.streamId, Buffer.alloc(0), header.fin);
    } else {
      state = { at: "data", header, left: header.length };
    }
  };

  /** Goes on by one step. Returns the rest of the chunk, or undefined where more bytes are needed. */
  const step = (chunk: Buffer): Buffer | undefined => {
    if (state.at === "data") {
      const { header, left } = state;
      const bytes = chunk.subarray(0, left);
      state = bytes.length === left ? { at: "header" } : { at: "data", header, left: left - bytes.length };
      sink.data(header.streamId, bytes, header.fin && bytes.length === left);
      return chunk.subarray(bytes.length);
    }
    const taken = take(chunk, state.at === "header" ? FRAME_HEADER_BYTES : state.header.length);
    if (taken === undefined) return undefined;
    if (state.at === "header") {
      begin(decodeFrameHeader(taken.bytes));
    } else {
      const { header } = state;
      state = { at: "header" };
      sink.control(decodeControlFrame(header, taken.bytes));
    }
    return taken.rest;
  };

  return {
    push(chunk) {
      let rest: Buffer | undefined = chunk;
      // A control frame without payload needs no further byte. SPDY/3 has no such frame, so it is rejected when the
      // next byte comes.
      while (rest !== undefined && rest.length > 0) rest = step(rest);
    },
  };
}
