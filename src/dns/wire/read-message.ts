/**
 * The shape of a message, read without trusting it: where its question and its records are. The packages' decoder gets
 * to see only what passed this, because it believes the counts in a message's head.
 */
export interface MessageShape {
  readonly id: number;
  readonly flags: number;
  /** The bytes of the name, type and class that were asked, as sent. */
  readonly question: Buffer;
  readonly type: number;
  readonly class: number;
  readonly answers: readonly RecordPlace[];
  readonly authorities: readonly RecordPlace[];
  readonly additionals: readonly RecordPlace[];
}

/** A record within a message. */
export interface RecordPlace {
  readonly type: number;
  readonly class: number;
  /** In seconds; the flags of EDNS for the type OPT. */
  readonly ttl: number;
  /** Where the owner's name begins. */
  readonly start: number;
  /** Where the four bytes of the TTL begin. */
  readonly ttlAt: number;
  readonly end: number;
}

export const HEADER_BYTES = 12;
/** A record has at least a root name, type, class, TTL and length. */
export const LEAST_RECORD_BYTES = 11;
const MAX_NAME_BYTES = 255;

/** Reads the shape; undefined for bytes that are no message with exactly one question. What follows the records is ignored. */
export function readMessageShape(bytes: Buffer): MessageShape | undefined {
  if (bytes.length < HEADER_BYTES || bytes.readUInt16BE(4) !== 1) return undefined;
  const counts = [bytes.readUInt16BE(6), bytes.readUInt16BE(8), bytes.readUInt16BE(10)] as const;
  if (counts[0] + counts[1] + counts[2] > bytes.length / LEAST_RECORD_BYTES) return undefined;
  const name = skipName(bytes, HEADER_BYTES);
  // There is nothing before the first name to which it could point.
  if (name === undefined || name.isCompressed || name.end + 4 > bytes.length) return undefined;
  const reader = { bytes, at: name.end + 4 };
  const answers = readPlaces(reader, counts[0]);
  const authorities = answers && readPlaces(reader, counts[1]);
  const additionals = authorities && readPlaces(reader, counts[2]);
  if (answers === undefined || authorities === undefined || additionals === undefined) return undefined;
  return {
    id: bytes.readUInt16BE(0),
    flags: bytes.readUInt16BE(2),
    question: bytes.subarray(HEADER_BYTES, name.end + 4),
    type: bytes.readUInt16BE(name.end),
    class: bytes.readUInt16BE(name.end + 2),
    answers,
    authorities,
    additionals,
  };
}

function readPlaces(reader: { readonly bytes: Buffer; at: number }, count: number): RecordPlace[] | undefined {
  const { bytes } = reader;
  const places: RecordPlace[] = [];
  for (let read = 0; read < count; read++) {
    const start = reader.at;
    const name = skipName(bytes, start);
    if (name === undefined || name.end + 10 > bytes.length) return undefined;
    const end = name.end + 10 + bytes.readUInt16BE(name.end + 8);
    if (end > bytes.length) return undefined;
    const ttlAt = name.end + 4;
    const ttl = bytes.readUInt32BE(ttlAt);
    places.push({
      type: bytes.readUInt16BE(name.end),
      class: bytes.readUInt16BE(name.end + 2),
      ttl,
      start,
      ttlAt,
      end,
    });
    reader.at = end;
  }
  return places;
}

/** Finds the end of a name in place; a pointer ends it, wherever it leads. */
function skipName(bytes: Buffer, start: number): { end: number; isCompressed: boolean } | undefined {
  let at = start;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) return undefined;
    if (length >= 0xc0) return at + 2 <= bytes.length ? { end: at + 2, isCompressed: true } : undefined;
    if (length > 63) return undefined;
    at += 1 + length;
    if (at - start > MAX_NAME_BYTES) return undefined;
    if (length === 0) return { end: at, isCompressed: false };
  }
}
