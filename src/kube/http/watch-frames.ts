import { createByteCollector } from "../../base/byte-collector.ts";
import { CodedError } from "../../base/errors.ts";

/** Cuts a stream of bytes into lines, wherever its pieces end: an event is one line of JSON. */
interface FrameReader {
  /** Calls `onFrame` for each line that is complete, without its line break; empty lines are left out. */
  push(chunk: Buffer, onFrame: (frame: Buffer) => void): void;
  /** Bytes of a line that is not complete. */
  readonly pendingBytes: number;
}

const LINE_FEED = 0x0a;

/** A line that is longer than `maxBytes` throws a CodedError `frame-too-long`. */
export function createWatchFrameReader(maxBytes: number): FrameReader {
  const pending = createByteCollector();
  const keep = (part: Buffer) => {
    if (pending.length + part.length > maxBytes) {
      throw new CodedError("frame-too-long", `an event of the watch is longer than ${maxBytes} bytes`);
    }
    pending.add(part);
  };
  return {
    push(chunk, onFrame) {
      let start = 0;
      for (;;) {
        // No byte of a longer UTF-8 character is a line feed, so that the stream may be cut anywhere.
        const end = chunk.indexOf(LINE_FEED, start);
        keep(end === -1 ? chunk.subarray(start) : chunk.subarray(start, end));
        if (end === -1) return;
        start = end + 1;
        if (pending.length > 0) onFrame(pending.take());
      }
    },
    get pendingBytes() {
      return pending.length;
    },
  };
}
