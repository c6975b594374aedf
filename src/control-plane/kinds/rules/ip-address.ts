import { isIpAddress } from "../../../api/validation/names.ts";

/** The problems of a text as an address; empty for a valid one. */
export function checkIpAddress(text: string): string[] {
  return isIpAddress(text) ? [] : ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"];
}

/** The problems of a text as a range of addresses; empty for a valid one. */
export function checkCidr(text: string): string[] {
  return parseCidr(text) ? [] : ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"];
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

/** True when the address lies in the range. False too for a text that is no range or no address. */
export function contains(range: string, address: string): boolean {
  const parsed = parseCidr(range);
  const value = parseIpAddress(address);
  if (parsed === undefined || value === undefined || parsed.family !== familyOf(address)) return false;
  return value >= parsed.first && value < parsed.first + parsed.size;
}
