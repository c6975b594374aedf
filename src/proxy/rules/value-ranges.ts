import { type AddressRange, formatIpAddress } from "../../api/validation/ip-address.ts";

/** The values from `first` to `last`, both of them included: addresses or ports. */
export interface ValueRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** The same values in the fewest ranges, sorted. */
export function mergeRanges(ranges: readonly ValueRange[]): ValueRange[] {
  const merged: ValueRange[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => compare(a.first, b.first))) {
    const before = merged.at(-1);
    if (before === undefined || first > before.last + 1n) merged.push({ first, last });
    else if (last > before.last) merged[merged.length - 1] = { first: before.first, last };
  }
  return merged;
}

/** The values of a range that are in none of the others, sorted. */
export function withoutRanges({ first, last }: ValueRange, others: readonly ValueRange[]): ValueRange[] {
  const left: ValueRange[] = [];
  let from = first;
  for (const hole of mergeRanges(others)) {
    if (hole.last < from || hole.first > last) continue;
    if (hole.first > from) left.push({ first: from, last: hole.first - 1n });
    from = hole.last + 1n;
  }
  return from > last ? left : [...left, { first: from, last }];
}

/** The addresses of a network. */
export const rangeOfAddresses = ({ first, size }: AddressRange): ValueRange => ({ first, last: first + size - 1n });

/** A match of nftables on the selector, such as `tcp dport`, for any of the values; none for no value. */
export function matchRanges(
  selector: string,
  ranges: readonly ValueRange[],
  format: (range: ValueRange) => string = formatPorts,
): string[] {
  if (ranges.length === 0) return [];
  const texts = ranges.map(format).join(", ");
  return [`${selector} ${ranges.length === 1 ? texts : `{ ${texts} }`}`];
}

function formatPorts({ first, last }: ValueRange): string {
  return first === last ? `${first}` : `${first}-${last}`;
}

/** Formats a range of addresses as nftables reads it: one address, a network, or from one address to another. */
export function formatAddresses(family: AddressRange["family"]): (range: ValueRange) => string {
  const bits = family === "IPv4" ? 32 : 128;
  return ({ first, last }) => {
    const start = formatIpAddress(first, family);
    if (first === last) return start;
    const size = last - first + 1n;
    const isNetwork = (size & (size - 1n)) === 0n && first % size === 0n;
    if (isNetwork) return `${start}/${bits - size.toString(2).length + 1}`;
    return `${start}-${formatIpAddress(last, family)}`;
  };
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : Number(a > b);
}
