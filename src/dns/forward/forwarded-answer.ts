import { HEADER_BYTES, type MessageShape, readMessageShape } from "../wire/read-message.ts";
import type { DnsQuery } from "../wire/read-query.ts";
import { RECORD_TYPES } from "../wire/record.ts";
import { RESPONSE_CODES, writeOption, writeTruncated } from "../wire/write-answer.ts";

/** What another server answered: the bytes, which are passed on as they are but for their ID and TTLs. */
export interface ForwardedAnswer {
  readonly message: Buffer;
  readonly shape: MessageShape;
}

/** No answer is kept, nor said to be valid, for longer. It is the setting of kubeadm's CoreDNS. */
const MAX_FORWARDED_TTL_SECONDS = 30;
/** Denials without a start of authority, which would say how long they are valid, are kept so long. */
const PLAIN_DENIAL_SECONDS = 5;

const RESPONSE = 0x8000;
const OPCODE = 0x7800;
const TRUNCATED = 0x0200;
const RECURSION_DESIRED = 0x0100;
const CHECKING_DISABLED = 0x0010;

/** What tells the questions apart whose answers may be exchanged for each other. */
export function forwardKey({ question, type, class: group, edns, checkingDisabled }: DnsQuery): string {
  const name = question.toString("latin1", 0, question.length - 4).toLowerCase();
  const signatures = edns === undefined ? "plain" : edns.dnssecOk ? "signed" : "edns";
  return `${type} ${group} ${signatures} ${checkingDisabled} ${name}`;
}

/** The question as another server gets it, under an ID that only the two know. Options of the client stay here. */
export function writeForwardedQuery({ question, edns, checkingDisabled }: DnsQuery, id: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(id, 0);
  header.writeUInt16BE(RECURSION_DESIRED | (checkingDisabled ? CHECKING_DISABLED : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(edns === undefined ? 0 : 1, 10);
  return Buffer.concat([header, question, ...(edns === undefined ? [] : [writeOption(0, edns.dnssecOk)])]);
}

/** Reads what came back; undefined for what does not answer the question that was asked, whoever sent it. */
export function readForwardedAnswer(message: Buffer, asked: Buffer): ForwardedAnswer | undefined {
  const shape = readMessageShape(message);
  if (shape === undefined || (shape.flags & (RESPONSE | OPCODE)) !== RESPONSE) return undefined;
  const question = readMessageShape(asked)?.question ?? Buffer.alloc(0);
  if (shape.id !== asked.readUInt16BE(0) || !isSameQuestion(shape.question, question)) return undefined;
  return { message, shape };
}

/** Servers may change the case of letters. */
function isSameQuestion(one: Buffer, other: Buffer): boolean {
  if (one.length !== other.length) return false;
  const name = one.length - 4;
  return (
    one.subarray(name).equals(other.subarray(name)) &&
    one.toString("latin1", 0, name).toLowerCase() === other.toString("latin1", 0, name).toLowerCase()
  );
}

/** The response code, of those that fit into a message's head. */
export const codeOfAnswer = ({ shape }: ForwardedAnswer): number => shape.flags & 0xf;
/** True for an answer that is to be asked for again over TCP. */
export const isCutShort = ({ shape }: ForwardedAnswer): boolean => (shape.flags & TRUNCATED) !== 0;

/** Seconds that the answer may be kept; 0 for one that may not. */
export function computeLifetimeSeconds(forwarded: ForwardedAnswer): number {
  const { shape, message } = forwarded;
  const code = codeOfAnswer(forwarded);
  if (isCutShort(forwarded) || (code !== RESPONSE_CODES.NOERROR && code !== RESPONSE_CODES.NXDOMAIN)) return 0;
  if (code === RESPONSE_CODES.NOERROR && shape.answers.length > 0) {
    return Math.min(MAX_FORWARDED_TTL_SECONDS, ...shape.answers.map(({ ttl }) => ttl));
  }
  const authority = shape.authorities.find(({ type }) => type === RECORD_TYPES.SOA);
  if (authority === undefined) return PLAIN_DENIAL_SECONDS;
  // The last four bytes of the record say how long denials are valid (RFC 2308).
  const minimum = authority.end - authority.ttlAt >= 12 ? message.readUInt32BE(authority.end - 4) : 0;
  return Math.min(MAX_FORWARDED_TTL_SECONDS, authority.ttl, minimum);
}

/** Makes the answer to one client, with the time that it has been kept taken off. Too long for the client, it is cut. */
export function adaptAnswer(query: DnsQuery, { message, shape }: ForwardedAnswer, ageSeconds: number): Buffer {
  if (message.length > query.maxBytes || isCutShort({ message, shape })) return writeTruncated(query);
  const adapted = Buffer.from(message);
  adapted.writeUInt16BE(query.id, 0);
  const flags = (shape.flags & ~RECURSION_DESIRED) | (query.recursionDesired ? RECURSION_DESIRED : 0);
  adapted.writeUInt16BE(flags, 2);
  query.question.copy(adapted, HEADER_BYTES);
  for (const { type, ttl, ttlAt } of [...shape.answers, ...shape.authorities, ...shape.additionals]) {
    if (type === RECORD_TYPES.OPT) continue;
    adapted.writeUInt32BE(Math.max(0, Math.min(ttl, MAX_FORWARDED_TTL_SECONDS) - ageSeconds), ttlAt);
  }
  return adapted;
}
