import { InvalidArgumentError } from "commander";
import { type AddressRange, addressAt, parseCidr } from "../api/validation/ip-address.ts";

/** Fewer addresses are no use: one is the network's, one the bridge's, one the broadcast's. */
const LEAST_ADDRESSES = 4n;
/** More addresses than `/8` of IPv4 and `/48` of IPv6 are somebody else's, too. */
const MOST_ADDRESSES = { IPv4: 1n << 24n, IPv6: 1n << 80n } as const;

/**
 * Reads one range, or an IPv4 and an IPv6 range with a comma between them; the first is of the default family. Returns them
 * without the bits of hosts. Throws for anything else.
 */
export function addressRanges(text: string): string {
  const ranges = text.split(",").map((part) => readRange(part.trim()));
  const [first, second, ...rest] = ranges;
  if (first === undefined || rest.length > 0 || first.family === second?.family) {
    throw new InvalidArgumentError("It must be one range, or an IPv4 and an IPv6 range with a comma between them.");
  }
  return ranges.map(({ canonical }) => canonical).join();
}

/** Reads the same of ranges that begin with IPv4, by which this machine's bridge and its servers are reached. */
export function ipv4FirstRanges(text: string): string {
  const ranges = addressRanges(text);
  if (!ranges.split(",")[0]?.includes(":")) return ranges;
  throw new InvalidArgumentError("It must be an IPv4 range, or one with an IPv6 range after a comma.");
}

function readRange(text: string): { family: AddressRange["family"]; canonical: string } {
  const range = parseCidr(text);
  const network = addressAt(text, 0n);
  if (range === undefined || network === undefined) {
    throw new InvalidArgumentError(`"${text}" is no range such as 10.64.0.0/16 or fd00:64::/112.`);
  }
  const { family, size } = range;
  if (size >= LEAST_ADDRESSES && size <= MOST_ADDRESSES[family]) {
    return { family, canonical: `${network}/${text.split("/")[1]}` };
  }
  const limits = family === "IPv4" ? "an IPv4 range of /8 to /30" : "an IPv6 range of /48 to /126";
  throw new InvalidArgumentError(`"${text}" must be ${limits}.`);
}
