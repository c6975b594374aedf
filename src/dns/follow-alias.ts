import { decode } from "dns-packet";
import type { DnsPeer } from "../host/dns-port.ts";
import type { Forwarder } from "./forward/forwarder.ts";
import { HEADER_BYTES, readMessageShape } from "./wire/read-message.ts";
import type { DnsQuery } from "./wire/read-query.ts";
import type { DnsRecord } from "./wire/record.ts";
import { RESPONSE_CODES, type ResponseCode } from "./wire/write-answer.ts";
import { type ClusterZone, resolveName, ZONE_TTL_SECONDS } from "./zone/resolve-name.ts";

export interface AliasDeps {
  readonly zone: ClusterZone;
  readonly forwarder: Forwarder;
}

interface AliasTarget {
  readonly target: string;
  /** The type that is wanted of it. */
  readonly type: number;
  readonly peer: DnsPeer;
}

/** What is at the end of an alias. */
interface AliasEnd {
  readonly code: ResponseCode;
  readonly records: readonly DnsRecord[];
}

/** Services may lead to each other, in a circle too. */
const MAX_ALIASES = 8;
/** What other servers say of an alias; every client can follow it. */
const MAX_FOREIGN_RECORDS = 64;
const MAX_BYTES = 65_535;

/**
 * Finds the records of the name that an ExternalName service leads to, within the cluster and beyond. Clients do not
 * follow aliases themselves.
 */
export async function followAlias(deps: AliasDeps, { target, type, peer }: AliasTarget): Promise<AliasEnd> {
  const followed: DnsRecord[] = [];
  let name = target;
  for (let aliases = 0; aliases < MAX_ALIASES; aliases++) {
    const found = resolveName(deps.zone, name, type);
    switch (found.kind) {
      case "records":
        return { code: "NOERROR", records: [...followed, ...found.records] };
      case "nothing":
        return { code: "NOERROR", records: followed };
      case "no-such-name":
        return { code: "NXDOMAIN", records: followed };
      case "elsewhere": {
        const { code, records } = await askElsewhere(deps.forwarder, { target: name, type, peer });
        return { code, records: [...followed, ...records] };
      }
      case "alias":
        followed.push(found.record);
        name = found.target;
    }
  }
  return { code: "SERVFAIL", records: [] };
}

async function askElsewhere(forwarder: Forwarder, { target, type, peer }: AliasTarget): Promise<AliasEnd> {
  const query = composeQuery(target, type);
  const failed: AliasEnd = { code: "SERVFAIL", records: [] };
  if (query === undefined) return failed;
  const kept = forwarder.recall(query);
  const outcome = kept === undefined ? await forwarder.ask(query, peer) : { kind: "answer" as const, message: kept };
  if (outcome.kind !== "answer") return failed;
  const code = (outcome.message[3] ?? 0) & 0xf;
  if (code === RESPONSE_CODES.NXDOMAIN) return { code: "NXDOMAIN", records: [] };
  const records = code === RESPONSE_CODES.NOERROR ? readRecords(outcome.message) : undefined;
  return records === undefined ? failed : { code: "NOERROR", records };
}

/** A name that is too long for the wire has no query. */
function composeQuery(name: string, type: number): DnsQuery | undefined {
  const labels = name.split(".");
  if (name.length > 253 || labels.some((label) => label.length === 0 || label.length > 63)) return undefined;
  const tail = Buffer.from([0, 0, 0, 0, 1]);
  tail.writeUInt16BE(type, 1);
  const question = Buffer.concat([
    ...labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, "latin1")]),
    tail,
  ]);
  const common = { opcode: 0, recursionDesired: true, checkingDisabled: false, edns: undefined };
  return { ...common, id: 0, question, name, type, class: 1, maxBytes: MAX_BYTES };
}

/** The addresses and aliases of another server's answer; undefined for one that cannot be read. */
function readRecords(message: Buffer): DnsRecord[] | undefined {
  const shape = readMessageShape(message);
  if (shape === undefined || shape.answers.length > MAX_FOREIGN_RECORDS) return undefined;
  // The decoder gets to see the answers alone: other types in other sections are nothing to fail for.
  const end = shape.answers.at(-1)?.end ?? HEADER_BYTES + shape.question.length;
  const answersOnly = Buffer.from(message.subarray(0, end));
  answersOnly.fill(0, 8, HEADER_BYTES);
  try {
    return (decode(answersOnly).answers ?? []).flatMap((answer): DnsRecord[] => {
      if (answer.type !== "A" && answer.type !== "AAAA" && answer.type !== "CNAME") return [];
      return [
        {
          name: answer.name.toLowerCase(),
          ttl: Math.min(answer.ttl ?? 0, ZONE_TTL_SECONDS),
          type: answer.type,
          data: answer.data,
        },
      ];
    });
  } catch {
    return undefined;
  }
}
