import type { DnsTransport } from "../../host/dns-port.ts";
import { type MessageShape, readMessageShape } from "./read-message.ts";
import { RECORD_TYPES } from "./record.ts";

/** A question that a client asks. */
export interface DnsQuery {
  readonly id: number;
  readonly opcode: number;
  readonly recursionDesired: boolean;
  readonly checkingDisabled: boolean;
  /** The name, type and class as sent, which the answer repeats. */
  readonly question: Buffer;
  /** The name in lower case, without a dot at its end; "" is the root. Undefined for one that no text can hold. */
  readonly name: string | undefined;
  readonly type: number;
  readonly class: number;
  /** Undefined for a client that knows nothing of EDNS. */
  readonly edns: Edns | undefined;
  /** The longest answer that the client takes, in bytes. */
  readonly maxBytes: number;
}

interface Edns {
  readonly version: number;
  /** True: the client wants signatures too. */
  readonly dnssecOk: boolean;
}

/** What was received: a question, something that deserves an error with its ID, or something that gets no answer. */
type Received =
  | { readonly kind: "query"; readonly query: DnsQuery }
  | { readonly kind: "malformed"; readonly id: number; readonly opcode: number }
  | { readonly kind: "ignored" };

/** RFC 1035: what every client takes over UDP. */
const LEAST_UDP_BYTES = 512;
/** Longer datagrams may be cut into fragments, which get lost and can be forged (the DNS flag day of 2020). */
export const MAX_UDP_BYTES = 1_232;
const MAX_TCP_BYTES = 65_535;

const RESPONSE_FLAG = 0x8000;
const RECURSION_DESIRED_FLAG = 0x0100;
const CHECKING_DISABLED_FLAG = 0x0010;
const DNSSEC_OK_FLAG = 0x8000;

/** Reads what a client sent. An answer is never answered, so that two servers cannot keep each other busy. */
export function readQuery(bytes: Buffer, transport: DnsTransport): Received {
  if (bytes.length < 4) return { kind: "ignored" };
  const id = bytes.readUInt16BE(0);
  const flags = bytes.readUInt16BE(2);
  if ((flags & RESPONSE_FLAG) !== 0) return { kind: "ignored" };
  const opcode = (flags >> 11) & 0xf;
  const malformed = { kind: "malformed", id, opcode } as const;
  const shape = readMessageShape(bytes);
  if (shape === undefined || shape.answers.length > 0) return malformed;
  const options = shape.additionals.filter(({ type }) => type === RECORD_TYPES.OPT);
  const [option] = options;
  if (options.length > 1) return malformed;
  const edns = option && { version: (option.ttl >> 16) & 0xff, dnssecOk: (option.ttl & DNSSEC_OK_FLAG) !== 0 };
  const offered = Math.min(Math.max(option?.class ?? LEAST_UDP_BYTES, LEAST_UDP_BYTES), MAX_UDP_BYTES);
  return {
    kind: "query",
    query: {
      id,
      opcode,
      recursionDesired: (flags & RECURSION_DESIRED_FLAG) !== 0,
      checkingDisabled: (flags & CHECKING_DISABLED_FLAG) !== 0,
      question: shape.question,
      name: readQuestionName(shape),
      type: shape.type,
      class: shape.class,
      edns,
      maxBytes: transport === "tcp" ? MAX_TCP_BYTES : offered,
    },
  };
}

/** A label with a dot or with bytes beyond ASCII has no text that stands for it alone; the cluster has no such names. */
function readQuestionName({ question }: MessageShape): string | undefined {
  const labels: string[] = [];
  for (let at = 0, length = question[0] ?? 0; length > 0; length = question[at] ?? 0) {
    const label = question.toString("latin1", at + 1, at + 1 + length);
    if (!/^[!-~]+$/.test(label) || label.includes(".")) return undefined;
    labels.push(label.toLowerCase());
    at += 1 + length;
  }
  return labels.join(".");
}
