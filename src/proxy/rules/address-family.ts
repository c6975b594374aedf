import { isIPv4, isIPv6 } from "node:net";
import type { AddressFamily } from "./fragment.ts";

/** The family of an address; undefined for what is no address, such as `None`. */
export function ruleFamilyOf(address: string): AddressFamily | undefined {
  if (isIPv4(address)) return "ip";
  return isIPv6(address) ? "ip6" : undefined;
}

/** Tells ranges such as `10.0.0.0/8` of a family. */
export function isRangeOf(family: AddressFamily): (range: string) => boolean {
  return (range) => {
    const [address = "", bits = "", ...rest] = range.split("/");
    return ruleFamilyOf(address) === family && /^\d{1,3}$/.test(bits) && rest.length === 0;
  };
}
