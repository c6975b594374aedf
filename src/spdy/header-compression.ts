import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { messageOf } from "../base/errors.ts";
import { HEADER_DICTIONARY } from "./header-dictionary.ts";
import { SpdyError } from "./spdy-error.ts";

/**
 * The blocks of headers that go one way are one zlib stream, flushed after each block (draft-mbelshe-httpbis-spdy-00,
 * section 2.6.10.1). A flush ends on a whole byte, and deflate looks back no further than 32 KiB. So each block is
 * compressed on its own, with that window for its dictionary. That needs no native state, whose calls would be
 * asynchronous and would have to be kept in the order of the frames, and nothing has to be freed.
 */
type HeaderCompressor = (block: Buffer) => Buffer;

/** Throws `protocol-error` for bytes that are not compressed in this way, or that become too many. */
export type HeaderDecompressor = (compressed: Buffer) => Buffer;

/** The distance that deflate looks back. */
const WINDOW_BYTES = 32 * 1024;
/** The header says: deflate with that window, the best compression, and a dictionary. */
const ZLIB_HEADER = Buffer.from([0x78, 0xf9]);
/** Adler-32 of the dictionary. */
const DICTIONARY_ID = 0xe3c6a7c2;

/** Makes the compressor of one connection. */
export function createHeaderCompressor(): HeaderCompressor {
  let window = HEADER_DICTIONARY;
  let isFirst = true;
  return (block) => {
    const bytes = deflateRawSync(block, {
      dictionary: window,
      finishFlush: constants.Z_SYNC_FLUSH,
      level: constants.Z_BEST_COMPRESSION,
    });
    window = slide(window, block);
    if (!isFirst) return bytes;
    isFirst = false;
    const id = Buffer.alloc(4);
    id.writeUInt32BE(DICTIONARY_ID);
    return Buffer.concat([ZLIB_HEADER, id, bytes]);
  };
}

/** Makes the decompressor of one connection. `maxBytes` bounds the decompressed size of one block. */
export function createHeaderDecompressor(maxBytes: number): HeaderDecompressor {
  let window: Buffer | undefined;
  return (compressed) => {
    let bytes = compressed;
    if (window === undefined) {
      const { headerLength, hasDictionary } = readZlibHeader(compressed);
      window = hasDictionary ? HEADER_DICTIONARY : Buffer.alloc(0);
      bytes = compressed.subarray(headerLength);
    }
    const block = inflate(bytes, window, maxBytes);
    window = slide(window, block);
    return block;
  };
}

function inflate(bytes: Buffer, dictionary: Buffer, maxBytes: number): Buffer {
  try {
    return inflateRawSync(bytes, {
      ...(dictionary.length > 0 && { dictionary }),
      finishFlush: constants.Z_SYNC_FLUSH,
      maxOutputLength: maxBytes,
    });
  } catch (error) {
    throw new SpdyError("protocol-error", `headers cannot be decompressed: ${messageOf(error)}`, { cause: error });
  }
}

/** Reads the header that RFC 1950 defines. */
function readZlibHeader(bytes: Buffer): { headerLength: number; hasDictionary: boolean } {
  const [method = 0, flags = 0] = bytes;
  if (bytes.length < 2 || (method & 0x0f) !== 8 || ((method << 8) | flags) % 31 !== 0) {
    throw new SpdyError("protocol-error", "headers are not compressed with zlib");
  }
  const hasDictionary = (flags & 0x20) !== 0;
  if (!hasDictionary) return { headerLength: 2, hasDictionary };
  if (bytes.length < 6 || bytes.readUInt32BE(2) !== DICTIONARY_ID) {
    throw new SpdyError("protocol-error", "headers are compressed with another dictionary than SPDY/3's");
  }
  return { headerLength: 6, hasDictionary };
}

function slide(window: Buffer, block: Buffer): Buffer {
  const both = Buffer.concat([window, block]);
  return both.subarray(Math.max(0, both.length - WINDOW_BYTES));
}
