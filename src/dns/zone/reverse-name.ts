import { isIPv4 } from "node:net";

const IPV4_SUFFIX = ".in-addr.arpa";
const IPV6_SUFFIX = ".ip6.arpa";

/** The address that a name in lower case stands for: `1.0.96.10.in-addr.arpa` is 10.96.0.1. Undefined for other names. */
export function readReverseName(name: string): string | undefined {
  if (name.endsWith(IPV4_SUFFIX)) {
    const address = name.slice(0, -IPV4_SUFFIX.length).split(".").toReversed().join(".");
    return isIPv4(address) ? address : undefined;
  }
  if (!name.endsWith(IPV6_SUFFIX)) return undefined;
  const digits = name.slice(0, -IPV6_SUFFIX.length).split(".").toReversed();
  if (digits.length !== 32 || !digits.every((digit) => /^[0-9a-f]$/.test(digit))) return undefined;
  return compressGroups(Array.from({ length: 8 }, (_, index) => digits.slice(4 * index, 4 * index + 4).join("")));
}

/** The form of RFC 5952, in which addresses of objects are written: no leading zeros, the longest run of zeros left out. */
function compressGroups(groups: readonly string[]): string {
  const text = groups.map((group) => group.replace(/^0{1,3}/, "")).join(":");
  const runs = [...text.matchAll(/(?:^|:)0(?::0)+(?=:|$)/g)];
  const longest = runs.toSorted((a, b) => b[0].replace(/^:/, "").length - a[0].replace(/^:/, "").length)[0];
  if (longest === undefined) return text;
  const before = text.slice(0, longest.index);
  const after = text.slice(longest.index + longest[0].length);
  return `${before}::${after.replace(/^:/, "")}`;
}
