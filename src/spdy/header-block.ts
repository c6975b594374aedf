import { SpdyError } from "./spdy-error.ts";

/**
 * A stream's headers. Names are in lower case, as SPDY demands. A header that has several values has them in one
 * string, with a NUL between two.
 */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** A block with more headers is a mistake or an attack: Kubernetes sends three. */
const MAX_HEADERS = 1000;

/** Encodes the block before it is compressed: draft-mbelshe-httpbis-spdy-00, section 2.6.10. */
export function encodeHeaderBlock(headers: Iterable<readonly [name: string, value: string]>): Buffer {
  const fields = [...headers].flatMap(([name, value]) => [withLength(name.toLowerCase()), withLength(value)]);
  return Buffer.concat([uint32(fields.length / 2), ...fields]);
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Throws `protocol-error` for bytes that are no block of headers. */
export function decodeHeaderBlock(block: Buffer): SpdyHeaders {
  let offset = 0;
  const readLength = () => {
    if (offset + 4 > block.length) throw broken("ends in a length");
    offset += 4;
    return block.readUInt32BE(offset - 4);
  };
  const readText = () => {
    const length = readLength();
    if (length > block.length - offset) throw broken("ends in a name or value");
    offset += length;
    return block.toString("utf8", offset - length, offset);
  };
  const count = readLength();
  if (count > MAX_HEADERS) throw broken(`has ${count} headers, more than ${MAX_HEADERS}`);
  const headers = new Map<string, string>();
  for (let index = 0; index < count; index++) {
    const name = readText();
    if (name === "" || name !== name.toLowerCase()) throw broken(`has the name ${JSON.stringify(name)}`);
    if (headers.has(name)) throw broken(`has ${JSON.stringify(name)} twice`);
    headers.set(name, readText());
  }
  if (offset !== block.length) throw broken("goes on after its last header");
  return headers;
}

function broken(what: string): SpdyError {
  return new SpdyError("protocol-error", `a block of headers ${what}`);
}
