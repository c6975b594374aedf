import { type Answer, encode } from "dns-packet";
import { HEADER_BYTES, LEAST_RECORD_BYTES, type RecordPlace, readMessageShape } from "./read-message.ts";
import { type DnsQuery, MAX_UDP_BYTES } from "./read-query.ts";
import type { DnsRecord } from "./record.ts";

/** The response codes that we send, by their numbers. */
export const RESPONSE_CODES = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export type ResponseCode = keyof typeof RESPONSE_CODES;

/** What an answer says. */
export interface AnswerContent {
  readonly code: ResponseCode;
  /** True: we are who decides about this name. */
  readonly isAuthoritative?: boolean;
  readonly answers?: readonly DnsRecord[];
  readonly authorities?: readonly DnsRecord[];
  readonly additionals?: readonly DnsRecord[];
}

const RESPONSE = 0x8000;
const AUTHORITATIVE = 0x0400;
const TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const RECURSION_AVAILABLE = 0x0080;
const CHECKING_DISABLED = 0x0010;

/** Where the name that was asked begins in every message; a pointer to it takes two bytes. */
const NAME_POINTER = Buffer.from([0xc0, HEADER_BYTES]);

/**
 * Writes an answer. What does not fit into what the client takes is left out from its end, and where that was not only
 * additional, the answer says so and the client asks again over TCP.
 */
export function writeAnswer(query: DnsQuery, content: AnswerContent): Buffer {
  const code = RESPONSE_CODES[content.code];
  const { answers = [], authorities = [], additionals = [] } = content;
  const option = query.edns === undefined ? undefined : writeOption(code >> 4, query.edns.dnssecOk);
  const room = query.maxBytes - HEADER_BYTES - query.question.length - (option?.length ?? 0);
  const sections = takeFitting(
    [answers, authorities, additionals].map((records) => encodeRecords(takeFirst(records, room), query)),
    room,
  );
  const flags =
    flagsOf(query) |
    (content.isAuthoritative === true ? AUTHORITATIVE : 0) |
    (sections.isCut ? TRUNCATED : 0) |
    (code & 0xf);
  const [answered = [], authority = [], additional = []] = sections.records;
  const counts = [1, answered.length, authority.length, additional.length + (option === undefined ? 0 : 1)];
  return Buffer.concat([
    writeHeader(query.id, flags, counts),
    query.question,
    ...answered,
    ...authority,
    ...additional,
    ...(option === undefined ? [] : [option]),
  ]);
}

/** The answer to something that cannot be read: its ID and what was wrong, without a question. */
export function writeBareError(id: number, opcode: number, code: "FORMERR" | "NOTIMP"): Buffer {
  return writeHeader(id, RESPONSE | (opcode << 11) | RESPONSE_CODES[code], [0, 0, 0, 0]);
}

/** The head and the question alone, from which a client learns that it must ask over TCP. */
export function writeTruncated(query: DnsQuery): Buffer {
  return Buffer.concat([writeHeader(query.id, flagsOf(query) | TRUNCATED, [1, 0, 0, 0]), query.question]);
}

function flagsOf(query: DnsQuery): number {
  return (
    RESPONSE |
    RECURSION_AVAILABLE |
    (query.opcode << 11) |
    (query.recursionDesired ? RECURSION_DESIRED : 0) |
    (query.checkingDisabled ? CHECKING_DISABLED : 0)
  );
}

function writeHeader(id: number, flags: number, counts: readonly number[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(flags, 2);
  for (const [index, count] of counts.entries()) header.writeUInt16BE(count, 4 + 2 * index);
  return header;
}

/** The record of EDNS. */
export function writeOption(extendedCode: number, dnssecOk: boolean): Buffer {
  const option = Buffer.alloc(11);
  option.writeUInt16BE(41, 1);
  option.writeUInt16BE(MAX_UDP_BYTES, 3);
  option.writeUInt8(extendedCode, 5);
  option.writeUInt16BE(dnssecOk ? 0x8000 : 0, 7);
  return option;
}

/** A message that can be read has one question; what it asks does not matter here. */
const ROOT_QUESTION = { type: "A", name: "." } as const;

/**
 * Leaves out records that cannot fit, however short they are, but for one that shows that something is cut. To encode ten
 * thousand addresses for an answer of 512 bytes would let anybody keep the server busy.
 */
function takeFirst(records: readonly DnsRecord[], room: number): readonly DnsRecord[] {
  return records.slice(0, Math.floor(Math.max(room, 0) / LEAST_RECORD_BYTES) + 1);
}

/** Encodes each record by itself. The name that was asked is the owner of most, and is not repeated. */
function encodeRecords(records: readonly DnsRecord[], query: DnsQuery): Buffer[] {
  if (records.length === 0) return [];
  const message = encode({ type: "response", questions: [ROOT_QUESTION], answers: records.map(toPacket) });
  const shape = readMessageShape(message);
  if (shape === undefined) throw new TypeError("a record of ours cannot be encoded");
  return shape.answers.map((place, index) => {
    return records[index]?.name === query.name
      ? Buffer.concat([NAME_POINTER, afterOwner(message, place)])
      : message.subarray(place.start, place.end);
  });
}

/** The type, class, TTL and data. */
function afterOwner(message: Buffer, { ttlAt, end }: RecordPlace): Buffer {
  return message.subarray(ttlAt - 4, end);
}

function toPacket(record: DnsRecord): Answer {
  return { ...record, name: record.name === "" ? "." : record.name };
}

/** Takes records from the beginning until one does not fit. */
function takeFitting(
  sections: ReadonlyArray<readonly Buffer[]>,
  room: number,
): { records: Buffer[][]; isCut: boolean } {
  let left = room;
  let isFull = false;
  const records = sections.map((section) => {
    return section.filter((record) => {
      isFull ||= record.length > left;
      if (!isFull) left -= record.length;
      return !isFull;
    });
  });
  const wanted = (sections[0]?.length ?? 0) + (sections[1]?.length ?? 0);
  const kept = (records[0]?.length ?? 0) + (records[1]?.length ?? 0);
  return { records, isCut: kept < wanted };
}
