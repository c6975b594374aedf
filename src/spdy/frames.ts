import { SpdyError } from "./spdy-error.ts";

/**
 * Control frames as they travel, with their blocks of headers still compressed: draft-mbelshe-httpbis-spdy-00, section
 * 2.6.
 */
export type ControlFrame =
  | { readonly type: "syn-stream"; readonly streamId: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly type: "syn-reply"; readonly streamId: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly type: "headers"; readonly streamId: number; readonly fin: boolean; readonly block: Buffer }
  | { readonly type: "rst-stream"; readonly streamId: number; readonly status: number }
  | { readonly type: "settings"; readonly initialWindowBytes: number | undefined }
  | { readonly type: "ping"; readonly id: number }
  | { readonly type: "go-away"; readonly lastStreamId: number; readonly status: number }
  | { readonly type: "window-update"; readonly streamId: number; readonly bytes: number }
  /** A frame of a type that SPDY/3 does not know, or that has no use here. It is skipped. */
  | { readonly type: "unknown" };

/** The length of the header before every frame. */
export const FRAME_HEADER_BYTES = 8;

/** Why a stream ends before its time. */
export const RESET_STATUS = {
  protocolError: 1,
  invalidStream: 2,
  refusedStream: 3,
  unsupportedVersion: 4,
  cancel: 5,
  internalError: 6,
  flowControlError: 7,
  streamInUse: 8,
  streamAlreadyClosed: 9,
  invalidCredentials: 10,
  frameTooLarge: 11,
} as const;

/** Why a connection ends. */
export const GO_AWAY_STATUS = { ok: 0, protocolError: 1, internalError: 2 } as const;

const VERSION = 3;
const FLAG_FIN = 0x01;
const SETTINGS_INITIAL_WINDOW_SIZE = 7;
const STREAM_ID_MASK = 0x7fff_ffff;

const TYPES = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

/** The content of the first eight bytes of a frame. */
export type FrameHeader =
  | { readonly kind: "data"; readonly streamId: number; readonly fin: boolean; readonly length: number }
  | { readonly kind: "control"; readonly type: number; readonly flags: number; readonly length: number };

/** Throws `protocol-error` for a control frame of another version. */
export function decodeFrameHeader(bytes: Buffer): FrameHeader {
  const first = bytes.readUInt32BE(0);
  const flags = bytes.readUInt8(4);
  const length = bytes.readUIntBE(5, 3);
  if ((first & 0x8000_0000) === 0) {
    if (first === 0) throw broken("a data frame of stream 0");
    return { kind: "data", streamId: first, fin: (flags & FLAG_FIN) !== 0, length };
  }
  const version = (first >>> 16) & 0x7fff;
  if (version !== VERSION) throw broken(`a control frame of version ${version}`);
  return { kind: "control", type: first & 0xffff, flags, length };
}

/** Throws `protocol-error` for a payload that does not fit the frame's type. */
export function decodeControlFrame({ type, flags }: { type: number; flags: number }, payload: Buffer): ControlFrame {
  const fin = (flags & FLAG_FIN) !== 0;
  switch (type) {
    case TYPES.synStream:
      return { type: "syn-stream", streamId: readStreamId(payload, 10), fin, block: payload.subarray(10) };
    case TYPES.synReply:
      return { type: "syn-reply", streamId: readStreamId(payload, 4), fin, block: payload.subarray(4) };
    case TYPES.headers:
      return { type: "headers", streamId: readStreamId(payload, 4), fin, block: payload.subarray(4) };
    case TYPES.rstStream:
      return { type: "rst-stream", streamId: readStreamId(payload, 8, "exactly"), status: payload.readUInt32BE(4) };
    case TYPES.settings:
      return { type: "settings", initialWindowBytes: readInitialWindow(payload) };
    case TYPES.ping:
      if (payload.length !== 4) throw broken(`a ping of ${payload.length} bytes`);
      return { type: "ping", id: payload.readUInt32BE(0) };
    case TYPES.goAway:
      if (payload.length !== 8) throw broken(`a GOAWAY of ${payload.length} bytes`);
      return {
        type: "go-away",
        lastStreamId: payload.readUInt32BE(0) & STREAM_ID_MASK,
        status: payload.readUInt32BE(4),
      };
    case TYPES.windowUpdate: {
      if (payload.length !== 8) throw broken(`a WINDOW_UPDATE of ${payload.length} bytes`);
      const streamId = payload.readUInt32BE(0) & STREAM_ID_MASK;
      return { type: "window-update", streamId, bytes: payload.readUInt32BE(4) & STREAM_ID_MASK };
    }
    default:
      return { type: "unknown" };
  }
}

function readStreamId(payload: Buffer, bytes: number, how: "at least" | "exactly" = "at least"): number {
  if (payload.length < bytes || (how === "exactly" && payload.length !== bytes)) {
    throw broken(`a control frame of ${payload.length} bytes where ${how} ${bytes} are needed`);
  }
  const streamId = payload.readUInt32BE(0) & STREAM_ID_MASK;
  if (streamId === 0) throw broken("a control frame of stream 0");
  return streamId;
}

function readInitialWindow(payload: Buffer): number | undefined {
  const count = payload.length < 4 ? -1 : payload.readUInt32BE(0);
  if (payload.length !== 4 + count * 8) throw broken(`SETTINGS of ${payload.length} bytes`);
  let bytes: number | undefined;
  for (let offset = 4; offset < payload.length; offset += 8) {
    if (payload.readUIntBE(offset + 1, 3) !== SETTINGS_INITIAL_WINDOW_SIZE) continue;
    bytes = payload.readUInt32BE(offset + 4);
    if (bytes > STREAM_ID_MASK) throw broken(`a window of ${bytes} bytes`);
  }
  return bytes;
}

function broken(what: string): SpdyError {
  return new SpdyError("protocol-error", `the peer sent ${what}`);
}

/** Opens a stream. Its priority and the number of the stream that it belongs to are 0. */
export function encodeSynStream(streamId: number, block: Buffer): Buffer {
  return control(TYPES.synStream, [streamId, 0], Buffer.concat([Buffer.alloc(2), block]));
}

/** Accepts a stream. */
export function encodeSynReply(streamId: number, block: Buffer): Buffer {
  return control(TYPES.synReply, [streamId], block);
}

/** `status` is one of RESET_STATUS. */
export function encodeRstStream(streamId: number, status: number): Buffer {
  return control(TYPES.rstStream, [streamId, status]);
}

/** The peer sends back every ping that it did not begin itself. */
export function encodePing(id: number): Buffer {
  return control(TYPES.ping, [id]);
}

/** `status` is one of GO_AWAY_STATUS. */
export function encodeGoAway(lastStreamId: number, status: number): Buffer {
  return control(TYPES.goAway, [lastStreamId, status]);
}

/** Stream 0 stands for the whole connection. */
export function encodeWindowUpdate(streamId: number, bytes: number): Buffer {
  return control(TYPES.windowUpdate, [streamId, bytes]);
}

/** The header before a data frame's bytes. */
export function encodeDataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt8(fin ? FLAG_FIN : 0, 4);
  header.writeUIntBE(length, 5, 3);
  return header;
}

function control(type: number, words: readonly number[], rest: Buffer = Buffer.alloc(0)): Buffer {
  const frame = Buffer.alloc(FRAME_HEADER_BYTES + words.length * 4 + rest.length);
  frame.writeUInt16BE(0x8000 | VERSION, 0);
  frame.writeUInt16BE(type, 2);
  frame.writeUIntBE(frame.length - FRAME_HEADER_BYTES, 5, 3);
  for (const [index, word] of words.entries()) frame.writeUInt32BE(word, FRAME_HEADER_BYTES + index * 4);
  rest.copy(frame, FRAME_HEADER_BYTES + words.length * 4);
  return frame;
}
