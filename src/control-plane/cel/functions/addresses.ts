import { isIP } from "node:net";
import { member, type Overload, objectArg, plain, sizeOf, stringArg, traversal, twoTraversals } from "../overload.ts";
import * as types from "../types.ts";
import { type AddressValue, type BlockValue, type CelValue, failure } from "../values.ts";

const { BOOL, INT, STRING } = types;
/** The type of `ip(…)`. */
export const IP = types.opaqueType("net.IP");
/** The type of `cidr(…)`. */
export const CIDR = types.opaqueType("net.CIDR");

const WIDTHS = { 4: 32, 6: 128 } as const;

/** The address; an IPv4 address mapped into IPv6, and a zone, are refused as upstream refuses them. */
function parseAddress(text: string): AddressValue | undefined {
  const family = isIP(text);
  if (family === 4) return { kind: "ip", family: 4, bits: fromParts(text.split("."), 8n, 10) };
  if (family !== 6 || text.includes("%")) return undefined;
  // The last four bytes may be written as an IPv4 address.
  const groups = text.replace(/[\d.]+$/, (last) => (last.includes(".") ? groupsOf(last) : last));
  const [head = "", tail] = groups.split("::");
  const first = head === "" ? [] : head.split(":");
  const last = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  const bits = fromParts([...first, ...(tail === undefined ? [] : zeros), ...last], 16n, 16);
  return bits >> 32n === 0xffffn ? undefined : { kind: "ip", family: 6, bits };
}

function groupsOf(ipv4: string): string {
  const bits = fromParts(ipv4.split("."), 8n, 10);
  return `${(bits >> 16n).toString(16)}:${(bits & 0xffffn).toString(16)}`;
}

function fromParts(parts: readonly string[], width: bigint, radix: number): bigint {
  return parts.reduce((bits, part) => (bits << width) | BigInt(Number.parseInt(part, radix)), 0n);
}

function formatAddress({ family, bits }: AddressValue): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (bits >> shift) & 255n).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const runs = [...groups.join(":").matchAll(/(?:^|:)(0(?::0)+)(?=$|:)/g)].map(([, run = ""]) => run);
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  if (longest === "") return groups.join(":");
  const joined = `:${groups.join(":")}:`;
  const shortened = joined.replace(`:${longest}:`, "::");
  return shortened.replace(/^:(?!:)/, "").replace(/(?<!:):$/, "");
}

function parseBlock(text: string): BlockValue | undefined {
  const [, base = "", length = ""] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const address = parseAddress(base);
  const prefix = Number(length);
  if (address === undefined || prefix > WIDTHS[address.family] || /^0\d/.test(length)) return undefined;
  return { kind: "cidr", address, prefix };
}

const ipArg = (value: CelValue | undefined) => objectArg("ip", value);
const cidrArg = (value: CelValue | undefined) => objectArg("cidr", value);

function toAddress(text: string): CelValue {
  const address = parseAddress(text);
  if (address) return address;
  const shown = JSON.stringify(text);
  if (isIP(text) !== 6) {
    const problem = `ParseAddr(${shown}): ${whyNoAddress(text)}`;
    return failure(`IP Address ${shown} parse error during conversion from string: ${problem}`);
  }
  if (text.includes("%")) return failure(`IP address ${shown} with zone value is not allowed`);
  return failure(`IPv4-mapped IPv6 address ${shown} is not allowed`);
}

/** What Go's `netip` says of the texts that are met most. */
function whyNoAddress(text: string): string {
  const [mark] = /[.:]/.exec(text) ?? [];
  if (mark !== ".") return mark === ":" ? whyNoSixthVersion(text) : "unable to parse IP";
  const parts = text.split(".");
  const odd = /[^\d.].*$/s.exec(text)?.[0];
  if (odd !== undefined) return `unexpected character (at ${JSON.stringify(odd)})`;
  if (parts.includes("")) return `IPv4 field must have at least one digit (at ${JSON.stringify(restAt(parts))})`;
  if (parts.some((part) => Number(part) > 255)) return "IPv4 field has value >255";
  if (parts.some((part) => /^0\d/.test(part))) return "IPv4 field has octet with leading zero";
  return parts.length > 4 ? "IPv4 address too long" : "IPv4 address too short";
}

/** What is left from the dot on that no digit stands before or after. */
function restAt(parts: readonly string[]): string {
  const place = parts.indexOf("");
  return place === parts.length - 1 ? "." : `.${parts.slice(place + 1).join(".")}`;
}

function whyNoSixthVersion(text: string): string {
  const [, rest] = /:::*?(:[^:].*|:)$/s.exec(text) ?? [];
  if (text.includes(":::") && rest !== undefined) {
    return `each colon-separated field must have at least one digit (at ${JSON.stringify(rest)})`;
  }
  const odd = /[^0-9a-fA-F:.%].*$/s.exec(text)?.[0];
  return odd === undefined ? "unable to parse IP" : `unexpected character (at ${JSON.stringify(odd)})`;
}

function toBlock(text: string): CelValue {
  const block = parseBlock(text);
  if (block) return block;
  const [base = "", length = ""] = text.split(/\/(?=[^/]*$)/);
  const problem = `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)})`;
  if (!text.includes("/")) return failure(`${problem}: no '/'`);
  if (isIP(base) === 0) return failure(`${problem}: ParseAddr(${JSON.stringify(base)}): ${whyNoAddress(base)}`);
  if (base.includes("%")) return failure(`${problem}: IPv6 zones cannot be present in a prefix`);
  if (!/^(0|[1-9]\d*)$/.test(length)) return failure(`${problem}: bad bits after slash: ${JSON.stringify(length)}`);
  if (Number(length) > WIDTHS[isIP(base) === 4 ? 4 : 6]) return failure(`${problem}: prefix length out of range`);
  return failure(`IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`);
}

/** The first bits of an address. */
const head = ({ family, bits }: AddressValue, prefix: number) => bits >> BigInt(WIDTHS[family] - prefix);
const inBlock = ({ bits, family }: AddressValue, [base, prefix]: readonly [bigint, number]) =>
  head({ kind: "ip", bits, family }, prefix) === base;

function contains({ address, prefix }: BlockValue, other: AddressValue): boolean {
  return address.family === other.family && head(address, prefix) === head(other, prefix);
}

function containsBlock(block: BlockValue, other: BlockValue): boolean {
  return other.prefix >= block.prefix && contains(block, other.address);
}

const isLinkLocal = (ip: AddressValue) => inBlock(ip, ip.family === 4 ? [0xa9fen, 16] : [0x3fan, 10]);
const isMulticast = (ip: AddressValue) => inBlock(ip, ip.family === 4 ? [0xen, 4] : [0xffn, 8]);
const isLoopback = (ip: AddressValue) => (ip.family === 4 ? inBlock(ip, [127n, 8]) : ip.bits === 1n);
const isGlobal = (ip: AddressValue) => {
  const isBroadcast = ip.family === 4 && ip.bits === 0xffffffffn;
  return !(isBroadcast || ip.bits === 0n || isLoopback(ip) || isMulticast(ip) || isLinkLocal(ip));
};
const isLocalMulticast = (ip: AddressValue) => {
  return ip.family === 4 ? inBlock(ip, [0xe00000n, 24]) : ((ip.bits >> 112n) & 0xff0fn) === 0xff02n;
};

const IP_TESTS: Readonly<Record<string, (ip: AddressValue) => boolean>> = {
  isUnspecified: ({ bits }) => bits === 0n,
  isLoopback,
  isLinkLocalMulticast: isLocalMulticast,
  isLinkLocalUnicast: isLinkLocal,
  isGlobalUnicast: isGlobal,
};

/** What it takes to read an address, beside what any text takes. */
const ADDRESS_STEPS = 50;

/** A function that reads an address or block of its last argument. */
function reading(overload: Overload): Overload {
  const run: Overload["run"] = (args, budget) => {
    budget.work(ADDRESS_STEPS);
    return overload.run(args, budget);
  };
  return { ...overload, run };
}

const ADDRESSES = [
  plain("ip", [[STRING], IP], ([text]) => toAddress(stringArg(text)), traversal),
  plain("isIP", [[STRING], BOOL], ([text]) => parseAddress(stringArg(text)) !== undefined, traversal),
  plain(
    "ip.isCanonical",
    [[STRING], BOOL],
    ([text]) => {
      const address = parseAddress(stringArg(text));
      return address ? formatAddress(address) === text : toAddress(stringArg(text));
    },
    twoTraversals,
  ),
  member("family", [[IP], INT], ([ip]) => BigInt(ipArg(ip).family)),
  plain("string", [[IP], STRING], ([ip]) => formatAddress(ipArg(ip))),
  ...Object.entries(IP_TESTS).map(([name, test]) => member(name, [[IP], BOOL], ([ip]) => test(ipArg(ip)))),
];

function masked({ address, prefix }: BlockValue): BlockValue {
  const rest = BigInt(WIDTHS[address.family] - prefix);
  return { kind: "cidr", address: { ...address, bits: (address.bits >> rest) << rest }, prefix };
}

const blockCost = (args: readonly CelValue[]) =>
  Math.ceil(2 * sizeOf(args[0]) * 0.1) + (typeof args[1] === "string" ? traversal([args[1]]) : 0);

const BLOCKS = [
  plain("cidr", [[STRING], CIDR], ([text]) => toBlock(stringArg(text)), traversal),
  plain("isCIDR", [[STRING], BOOL], ([text]) => parseBlock(stringArg(text)) !== undefined, traversal),
  plain("string", [[CIDR], STRING], ([block]) => `${formatAddress(cidrArg(block).address)}/${cidrArg(block).prefix}`),
  member("ip", [[CIDR], IP], ([block]) => cidrArg(block).address),
  member("prefixLength", [[CIDR], INT], ([block]) => BigInt(cidrArg(block).prefix)),
  member("masked", [[CIDR], CIDR], ([block]) => masked(cidrArg(block))),
  member("containsIP", [[CIDR, IP], BOOL], ([block, ip]) => contains(cidrArg(block), ipArg(ip)), blockCost),
  member(
    "containsIP",
    [[CIDR, STRING], BOOL],
    ([block, text]) => {
      const address = parseAddress(stringArg(text));
      return address ? contains(cidrArg(block), address) : toAddress(stringArg(text));
    },
    blockCost,
  ),
  member("containsCIDR", [[CIDR, CIDR], BOOL], ([a, b]) => containsBlock(cidrArg(a), cidrArg(b)), blockCost),
  member(
    "containsCIDR",
    [[CIDR, STRING], BOOL],
    ([block, text]) => {
      const other = parseBlock(stringArg(text));
      return other ? containsBlock(cidrArg(block), other) : toBlock(stringArg(text));
    },
    blockCost,
  ),
];

/** Kubernetes' functions of IP addresses and of blocks of them. */
export const ADDRESS_FUNCTIONS: readonly Overload[] = [...ADDRESSES, ...BLOCKS].map((each) => {
  return each.args.at(-1)?.kind === "string" ? reading(each) : each;
});
