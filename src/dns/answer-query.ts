import type { Clock } from "../base/clock.ts";
import type { DnsHandler, DnsPeer } from "../host/dns-port.ts";
import type { DnsMetrics } from "./dns-metrics.ts";
import { type AliasDeps, followAlias } from "./follow-alias.ts";
import type { LoopDetector } from "./forward/loop-detector.ts";
import { createKeptAnswers } from "./kept-answers.ts";
import { type DnsQuery, readQuery } from "./wire/read-query.ts";
import { type DnsRecord, nameRecordType, RECORD_TYPES } from "./wire/record.ts";
import { type AnswerContent, RESPONSE_CODES, writeAnswer, writeBareError } from "./wire/write-answer.ts";
import { resolveName, startOfAuthority } from "./zone/resolve-name.ts";

interface AnswerDeps extends AliasDeps {
  readonly loops: Pick<LoopDetector, "meets">;
  readonly metrics: Pick<DnsMetrics, "answered">;
  readonly clock: Clock;
  /** True when all of the cluster's names are known. */
  readonly isReady: () => boolean;
}

const INTERNET = 1;
const ANY_CLASS = 255;
/** The bit of an opcode that is a plain query. */
const QUERY = 0;

/** Creates what answers clients. It never rejects but for an abort. */
export function createDnsHandler(deps: AnswerDeps): DnsHandler {
  const { clock, zone, metrics } = deps;
  const kept = createKeptAnswers(zone);
  return (bytes, peer) => {
    const { transport, family } = peer;
    const startedAt = clock.monotonic();
    const count = (answer: Buffer, about: { readonly type: string; readonly zone: string }) => {
      metrics.answered({
        ...{ transport, family, type: about.type, zone: about.zone, code: nameCode(answer) },
        requestBytes: bytes.length,
        responseBytes: answer.length,
        seconds: (clock.monotonic() - startedAt) / 1_000,
      });
      return answer;
    };
    const known = kept.recall(bytes, transport);
    if (known !== undefined) return count(known.message, known);
    const received = readQuery(bytes, transport);
    if (received.kind === "ignored") return undefined;
    if (received.kind === "malformed") {
      return writeBareError(received.id, received.opcode, received.opcode === QUERY ? "FORMERR" : "NOTIMP");
    }
    const { query } = received;
    const about = {
      type: COUNTED_TYPES.has(query.type) ? nameRecordType(query.type) : "other",
      zone: isWithin(zone.domain, query.name) ? `${zone.domain}.` : ".",
    };
    const { answer, ofZone } = answerQuery(deps, query, peer);
    if (ofZone !== undefined) kept.keep(bytes, transport, { message: ofZone, ...about });
    return answer instanceof Promise ? answer.then((message) => count(message, about)) : count(answer, about);
  };
}

/** The types that CoreDNS counts each by itself. */
const COUNTED_TYPES: ReadonlySet<number> = new Set([
  RECORD_TYPES.A,
  RECORD_TYPES.AAAA,
  RECORD_TYPES.CNAME,
  RECORD_TYPES.NS,
  RECORD_TYPES.PTR,
  RECORD_TYPES.SOA,
  RECORD_TYPES.SRV,
  RECORD_TYPES.TXT,
  RECORD_TYPES.ANY,
]);

const CODE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(RESPONSE_CODES).map(([name, code]) => [code, name]),
);

function nameCode(answer: Buffer): string {
  const code = (answer[3] ?? 0) & 0xf;
  return CODE_NAMES.get(code) ?? String(code);
}

function isWithin(domain: string, name: string | undefined): boolean {
  return name !== undefined && (name === domain || name.endsWith(`.${domain}`));
}

interface Answered {
  readonly answer: Buffer | Promise<Buffer>;
  /** The same answer where the zone has it by itself: it is the same until the zone changes. */
  readonly ofZone?: Buffer;
}

function answerQuery(deps: AnswerDeps, query: DnsQuery, peer: DnsPeer): Answered {
  const { zone } = deps;
  const refusal = refuse(deps, query);
  if (refusal !== undefined) return { answer: writeAnswer(query, refusal) };
  const { name, type } = query;
  if (name === undefined) return { answer: forward(deps, query, peer) };
  if (isWithin(zone.domain, name) && !deps.isReady()) return { answer: writeAnswer(query, { code: "SERVFAIL" }) };
  const found = resolveName(zone, name, type);
  const fromZone = (content: AnswerContent): Answered => {
    const answer = writeAnswer(query, { ...content, isAuthoritative: true });
    return { answer, ofZone: answer };
  };
  switch (found.kind) {
    case "records":
      return fromZone({ code: "NOERROR", answers: found.records, additionals: found.additionals });
    case "nothing":
      return fromZone({ code: "NOERROR", authorities: [startOfAuthority(zone)] });
    case "no-such-name":
      return fromZone({ code: "NXDOMAIN", authorities: [startOfAuthority(zone)] });
    case "alias":
      if (type === RECORD_TYPES.CNAME) return fromZone({ code: "NOERROR", answers: [found.record] });
      return { answer: writeAliased(deps, { query, peer, record: found.record, target: found.target }) };
    case "elsewhere":
      return { answer: forward(deps, query, peer) };
  }
}

/** What is answered without a look at the name; undefined for a question that deserves one. */
function refuse({ loops }: AnswerDeps, query: DnsQuery): AnswerContent | undefined {
  if (query.opcode !== QUERY) return { code: "NOTIMP" };
  if (query.edns !== undefined && query.edns.version > 0) return { code: "BADVERS" };
  if (query.class !== INTERNET && query.class !== ANY_CLASS) return { code: "REFUSED" };
  if (query.type === RECORD_TYPES.AXFR || query.type === RECORD_TYPES.IXFR) return { code: "REFUSED" };
  if (query.type === RECORD_TYPES.ANY) return { code: "NOERROR", answers: [answerToAny(query.name ?? "")] };
  if (query.name !== undefined && loops.meets(query.name)) return { code: "REFUSED" };
  return undefined;
}

/** RFC 8482: a question for everything gets a little, so that nobody can use it to flood others. */
function answerToAny(name: string): DnsRecord {
  return { name, ttl: 8_482, type: "HINFO", data: { cpu: "RFC8482", os: "" } };
}

function forward({ forwarder }: AnswerDeps, query: DnsQuery, peer: DnsPeer): Buffer | Promise<Buffer> {
  const kept = forwarder.recall(query);
  if (kept !== undefined) return kept;
  return forwarder.ask(query, peer).then((outcome) => {
    if (outcome.kind === "answer") return outcome.message;
    return writeAnswer(query, { code: outcome.kind === "refused" ? "REFUSED" : "SERVFAIL" });
  });
}

interface Aliased {
  readonly query: DnsQuery;
  readonly peer: DnsPeer;
  readonly record: DnsRecord;
  readonly target: string;
}

async function writeAliased(deps: AnswerDeps, { query, peer, record, target }: Aliased): Promise<Buffer> {
  const { code, records } = await followAlias(deps, { target, type: query.type, peer });
  return writeAnswer(query, { code, isAuthoritative: true, answers: [record, ...records] });
}
