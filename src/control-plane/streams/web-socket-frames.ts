/** RFC 6455 as a server speaks it, without extensions. */

/** What the first bits of a frame say. */
export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Why a connection is closed. */
export const CLOSE_CODES = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupportedData: 1003,
} as const;

/** The client has sent what is no WebSocket; `code` is what it is told. */
export class WebSocketError extends Error {
  override readonly name = "WebSocketError";
  readonly code = CLOSE_CODES.protocolError;
}

/** Told of messages as they come. */
interface WebSocketSink {
  /** A part of a message, not masked any more. It may be empty. */
  piece(bytes: Buffer, piece: MessagePiece): void;
  ping(payload: Buffer): void;
  /** The client will send no more; undefined where it gave no code. */
  close(code: number | undefined): void;
}

/** Where in its message a piece stands. */
export interface MessagePiece {
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly isText: boolean;
}

/** Given the bytes in any pieces, which it changes; throws WebSocketError, after which it must not be used any more. */
interface WebSocketReader {
  push(chunk: Buffer): void;
}

interface FrameStart {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly length: number;
  readonly mask: Buffer;
}

const MAX_CONTROL_BYTES = 125;
/** Two bytes, the longest length, the mask. */
const MAX_START_BYTES = 14;

/** Messages are handed on as they come, however long they are; only the start of a frame and control frames are held. */
export function createWebSocketReader(sink: WebSocketSink): WebSocketReader {
  let start = Buffer.alloc(0);
  let frame: FrameStart | undefined;
  let done = 0;
  /** Of the message that is under way. */
  let message: { readonly isText: boolean; isFirst: boolean } | undefined;
  let control: Buffer[] = [];

  const checkOrder = ({ opcode }: FrameStart) => {
    if (opcode === OPCODES.continuation) {
      if (message === undefined) throw new WebSocketError("a continuation of no message");
    } else if (opcode === OPCODES.text || opcode === OPCODES.binary) {
      if (message !== undefined) throw new WebSocketError("a message within another");
      message = { isText: opcode === OPCODES.text, isFirst: true };
    }
  };

  const takePayload = ({ opcode, isFinal, length, mask }: FrameStart, chunk: Buffer): Buffer => {
    const bytes = chunk.subarray(0, length - done);
    unmask(bytes, mask, done);
    done += bytes.length;
    if (opcode > OPCODES.binary) control.push(bytes);
    else if (message !== undefined) {
      sink.piece(bytes, { ...message, isLast: isFinal && done === length });
      message.isFirst = false;
    }
    if (done === length) {
      frame = undefined;
      if (opcode > OPCODES.binary) endControl(opcode);
      else if (isFinal) message = undefined;
    }
    return chunk.subarray(bytes.length);
  };

  const endControl = (opcode: number) => {
    const payload = Buffer.concat(control);
    control = [];
    if (opcode === OPCODES.ping) sink.ping(payload);
    if (opcode !== OPCODES.close) return;
    if (payload.length === 1) throw new WebSocketError("a close with half a code");
    sink.close(payload.length === 0 ? undefined : payload.readUInt16BE(0));
  };

  /** What is left of the chunk; undefined where the frame's start is not complete yet. */
  const takeStart = (chunk: Buffer): Buffer | undefined => {
    const held = start.length;
    start = Buffer.concat([start, chunk.subarray(0, MAX_START_BYTES - held)]);
    const read = readStart(start);
    if (read === undefined) return undefined;
    start = Buffer.alloc(0);
    checkOrder(read.frame);
    frame = read.frame;
    done = 0;
    const rest = chunk.subarray(read.bytes - held);
    return read.frame.length === 0 ? takePayload(read.frame, rest) : rest;
  };

  return {
    push(chunk) {
      let rest: Buffer | undefined = chunk;
      while (rest !== undefined && rest.length > 0)
        rest = frame === undefined ? takeStart(rest) : takePayload(frame, rest);
    },
  };
}

/** RFC 6455, section 5.2; undefined where there is not all of it. */
function readStart(bytes: Buffer): { frame: FrameStart; bytes: number } | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  const opcode = first & 0x0f;
  const isFinal = (first & 0x80) !== 0;
  const shortLength = second & 0x7f;
  if ((first & 0x70) !== 0) throw new WebSocketError("a frame of an extension that was not agreed on");
  if ((second & 0x80) === 0) throw new WebSocketError("a frame that is not masked");
  if (opcode > OPCODES.pong || (opcode > OPCODES.binary && opcode < OPCODES.close)) {
    throw new WebSocketError(`a frame of unknown kind ${opcode}`);
  }
  if (opcode >= OPCODES.close && (!isFinal || shortLength > MAX_CONTROL_BYTES)) {
    throw new WebSocketError("a control frame in parts, or of more than 125 bytes");
  }
  const lengthBytes = shortLength === 127 ? 8 : shortLength === 126 ? 2 : 0;
  const size = 2 + lengthBytes + 4;
  if (bytes.length < size) return undefined;
  const length = readLength(bytes, shortLength);
  return { frame: { opcode, isFinal, length, mask: Buffer.from(bytes.subarray(size - 4, size)) }, bytes: size };
}

function readLength(bytes: Buffer, shortLength: number): number {
  if (shortLength === 126) return bytes.readUInt16BE(2);
  if (shortLength < 126) return shortLength;
  const length = Number(bytes.readBigUInt64BE(2));
  if (!Number.isSafeInteger(length)) throw new WebSocketError("a frame without end");
  return length;
}

/** `offset`: of the bytes in their frame. */
function unmask(bytes: Buffer, mask: Buffer, offset: number): void {
  // Once around, so that the loop below has neither an index to compute nor a bound to check.
  const [a, b, c, d] = [0, 1, 2, 3].map((index) => mask[(index + offset) & 3] ?? 0);
  if (a === undefined || b === undefined || c === undefined || d === undefined) return;
  const whole = bytes.length - (bytes.length % 4);
  for (let index = 0; index < whole; index += 4) {
    bytes[index] = (bytes[index] ?? 0) ^ a;
    bytes[index + 1] = (bytes[index + 1] ?? 0) ^ b;
    bytes[index + 2] = (bytes[index + 2] ?? 0) ^ c;
    bytes[index + 3] = (bytes[index + 3] ?? 0) ^ d;
  }
  for (let index = whole; index < bytes.length; index++) {
    bytes[index] = (bytes[index] ?? 0) ^ (mask[(index + offset) & 3] ?? 0);
  }
}

/** What comes before a whole message's, or control frame's, bytes. Servers do not mask. */
export function encodeFrameStart(opcode: number, length: number): Buffer {
  if (length <= 125) return Buffer.from([0x80 | opcode, length]);
  const start = Buffer.alloc(length < 65_536 ? 4 : 10);
  start.writeUInt8(0x80 | opcode, 0);
  if (length < 65_536) {
    start.writeUInt8(126, 1);
    start.writeUInt16BE(length, 2);
  } else {
    start.writeUInt8(127, 1);
    start.writeBigUInt64BE(BigInt(length), 2);
  }
  return start;
}
