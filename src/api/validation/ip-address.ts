import { isIpAddress } from "./names.ts";

/** The problems of a text as an address; empty for a valid one. */
export function checkIpAddress(text: string): string[] {
  return isIpAddress(text) ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}

/** The problems of a text as a range of addresses; empty for a valid one. */
export function checkCidr(text: string): string[] {
  return parseCidr(text) ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
}

/**
 * The problems of an address that must have one spelling only, because it is a name. Returns several for a text that is
 * wrong in several ways.
 */
export function checkCanonicalIp(text: string): string[] {
  const plain = withoutLeadingZeros(text);
  const problems = checkIpAddress(plain);
  if (problems.length > 0) return problems;
  if (plain !== text) return ["must not have leading 0s"];
  if (contains(MAPPED_IPV4, text)) return ["must not be an IPv4-mapped IPv6 address"];
  const canonical = canonicalIp(text);
  return canonical === text ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

/** The problems of a range that must have one spelling only. */
export function checkCanonicalCidr(text: string): string[] {
  const [address = "", prefix = ""] = text.split("/");
  const plain = `${withoutLeadingZeros(address)}/${prefix.replace(/^0+(?=\d)/, "")}`;
  const problems = checkCidr(text.includes("/") ? plain : text);
  if (problems.length > 0) return problems;
  if (plain !== text) return ["must not have leading 0s in IP or prefix length"];
  if (contains(MAPPED_IPV4, address)) return ["must not have an IPv4-mapped IPv6 address"];
  const network = addressAt(text, 0n);
  if (network === undefined || !isSameAddress(network, address))
    return ["must not have bits set beyond the prefix length"];
  return network === address ? [] : [`must be in canonical form (${JSON.stringify(`${network}/${prefix}`)})`];
}

const MAPPED_IPV4 = "::ffff:0:0/96";

/** Old programs read `010.0.0.1` as this address, others as another one. */
function withoutLeadingZeros(text: string): string {
  return text.includes(":") ? text : text.replaceAll(/(?<![\d])0+(?=\d)/g, "");
}

/** The problems of a text as the address of a network interface, which has a prefix; empty for a valid one. */
export function checkInterfaceAddress(text: string): string[] {
  const [address = ""] = text.split("/");
  if (parseCidr(text) === undefined) {
    return ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"];
  }
  const canonical = `${canonicalIp(address)}${text.slice(address.length)}`;
  return text === canonical ? [] : [`must be in canonical form (${JSON.stringify(canonical)})`];
}

/** The family of an address or a range. */
export function familyOf(text: string): "IPv4" | "IPv6" {
  return text.includes(":") ? "IPv6" : "IPv4";
}

/** Addresses as numbers, so that ranges of both families are the same arithmetic. */
export interface AddressRange {
  readonly family: "IPv4" | "IPv6";
  /** The network's address. */
  readonly first: bigint;
  /** The number of addresses, the network's own included. */
  readonly size: bigint;
}

/** Undefined for a text that is no range. */
export function parseCidr(text: string): AddressRange | undefined {
  const [address = "", prefix = "", ...rest] = text.split("/");
  const family = familyOf(address);
  const bits = family === "IPv4" ? 32 : 128;
  if (rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix) || Number(prefix) > bits) return undefined;
  const value = parseIpAddress(address);
  if (value === undefined) return undefined;
  const size = 1n << BigInt(bits - Number(prefix));
  return { family, first: value - (value % size), size };
}

/** Undefined for a text that is no address. */
export function parseIpAddress(text: string): bigint | undefined {
  if (!isIpAddress(text)) return undefined;
  return familyOf(text) === "IPv4" ? parseIpv4(text) : parseIpv6(text);
}

function parseIpv4(text: string): bigint {
  return text.split(".").reduce((value, byte) => value * 256n + BigInt(byte), 0n);
}

function parseIpv6(text: string): bigint {
  const [head = "", tail] = text.split("::");
  const groups = groupsOf(head);
  const rest = tail === undefined ? [] : groupsOf(tail);
  const zeros = tail === undefined ? 0 : 8 - groups.length - rest.length;
  const all = [...groups, ...Array.from({ length: zeros }, () => 0n), ...rest];
  return all.reduce((value, group) => value * 65536n + group, 0n);
}

/** The groups of an IPv6 address, whose last four bytes may be written as an IPv4 address. */
function groupsOf(text: string): bigint[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [BigInt(`0x${group}`)];
    const value = parseIpv4(group);
    return [value / 65536n, value % 65536n];
  });
}

/** The address as text. IPv6 leaves out the longest run of zeros, as Go writes it. */
export function formatIpAddress(value: bigint, family: "IPv4" | "IPv6"): string {
  if (family === "IPv4") {
    return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 0xffn)).join(".");
  }
  const groups = Array.from({ length: 8 }, (_, index) => (value >> BigInt(112 - index * 16)) & 0xffffn);
  const full = groups.map((group) => group.toString(16)).join(":");
  // The URL parser writes addresses canonically.
  return new URL(`http://[${full}]/`).hostname.slice(1, -1);
}

/** The one spelling of an address; the text as it is where it is none. */
export function canonicalIp(text: string): string {
  const value = parseIpAddress(text);
  return value === undefined ? text : formatIpAddress(value, familyOf(text));
}

/** The address at the offset from the network's own: 1 in `10.96.0.0/16` is `10.96.0.1`. Undefined outside of the range. */
export function addressAt(range: string, offset: bigint): string | undefined {
  const parsed = parseCidr(range);
  if (parsed === undefined || offset >= parsed.size) return undefined;
  return formatIpAddress(parsed.first + offset, parsed.family);
}

/** True when the two texts spell the same address. */
export function isSameAddress(a: string, b: string): boolean {
  return (
    a === b ||
    (parseIpAddress(a) !== undefined && familyOf(a) === familyOf(b) && parseIpAddress(a) === parseIpAddress(b))
  );
}

/** Says why an address of a special range cannot be reached from other hosts; empty for all others. */
export function checkNonSpecial(text: string): string[] {
  const value = parseIpAddress(text);
  if (value === undefined) return ["must be a valid IP address"];
  const isIn = (range: string) => contains(range, text);
  if (value === 0n) return [`may not be unspecified (${text})`];
  if (isIn("127.0.0.0/8") || isIn("::1/128")) return ["may not be in the loopback range (127.0.0.0/8, ::1/128)"];
  if (isIn("169.254.0.0/16") || isIn("fe80::/10")) {
    return ["may not be in the link-local range (169.254.0.0/16, fe80::/10)"];
  }
  if (isIn("224.0.0.0/24") || isIn("ff02::/16")) {
    return ["may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"];
  }
  return [];
}

/** The address as IPv4 writes it, where a socket of both families has written it as `::ffff:10.64.0.7`. */
export function unmappedIp(text: string): string {
  return text.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** True when the address lies in the range. False too for a text that is no range or no address. */
export function contains(range: string, address: string): boolean {
  const parsed = parseCidr(range);
  const value = parseIpAddress(address);
  if (parsed === undefined || value === undefined || parsed.family !== familyOf(address)) return false;
  return value >= parsed.first && value < parsed.first + parsed.size;
}

/** True when the address lies in the range and is no address of the network itself: neither the first nor, with IPv4, the last. */
export function isUsableIn(range: string, address: string): boolean {
  const parsed = parseCidr(range);
  const value = parseIpAddress(address);
  if (parsed === undefined || value === undefined || !contains(range, address)) return false;
  return value !== parsed.first && (parsed.family === "IPv6" || value !== parsed.first + parsed.size - 1n);
}

/** True when every address of the inner range lies in the outer one. False too for a text that is no range. */
export function containsRange(outer: string, inner: string): boolean {
  const [around, within] = [parseCidr(outer), parseCidr(inner)];
  if (around === undefined || within === undefined || around.family !== within.family) return false;
  return around.first <= within.first && within.first + within.size <= around.first + around.size;
}

/** True when the two ranges have an address in common. */
export function overlap(a: string, b: string): boolean {
  return containsRange(a, b) || containsRange(b, a);
}
