/** The record types that the cluster's own zones have, and those that a query is refused for, by their numbers. */
export const RECORD_TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

/** A record of the cluster's own zones. Names have no dot at their end. */
export type DnsRecord = { readonly name: string; readonly ttl: number } & RecordData;

type RecordData =
  | { readonly type: "A" | "AAAA" | "CNAME" | "NS" | "PTR"; readonly data: string }
  | { readonly type: "TXT"; readonly data: string }
  | { readonly type: "SRV"; readonly data: SrvTarget }
  | { readonly type: "SOA"; readonly data: StartOfAuthority }
  | { readonly type: "HINFO"; readonly data: { readonly cpu: string; readonly os: string } };

interface SrvTarget {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

interface StartOfAuthority {
  readonly mname: string;
  readonly rname: string;
  readonly serial: number;
  readonly refresh: number;
  readonly retry: number;
  readonly expire: number;
  readonly minimum: number;
}

/** The name of a type, as metrics show it: `TYPE65` for one that we know nothing of. */
export function nameRecordType(type: number): string {
  return NAMES.get(type) ?? `TYPE${type}`;
}

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(RECORD_TYPES).map(([name, type]) => [type, name]));
