import { isIP, isIPv4 } from "node:net";
import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { checkDnsSubdomain } from "../api/validation/names.ts";
import { parseDuration } from "../config/duration.ts";

/** The highest port. */
export const MAX_PORT = 65_535;
/** The longest delay of a timer, 24 days; a longer grace period is none. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** A length of time in milliseconds, more than none. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= MAX_DURATION_MS) return ms;
  throw new InvalidArgumentError("It must be a duration such as 50s or 1m30s, of at most 24 days.");
}

/** A number that is not negative. */
export function readAmount(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= 1_000_000) return value;
  throw new InvalidArgumentError("It must be a number such as 0.1, not negative and at most 1000000.");
}

/** A part of a whole. */
export function readUnitShare(text: string): number {
  const value = readAmount(text);
  if (value <= 1) return value;
  throw new InvalidArgumentError("It must be a number from 0 to 1.");
}

/** A path, which is taken from the working directory. */
export const absolutePath = (path: string) => resolve(path);

/** A whole number in these bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}

/** An address to listen at. */
export function ipAddress(text: string): string {
  if (isIP(text) !== 0) return text;
  throw new InvalidArgumentError("It must be an IP address of this machine, or 0.0.0.0 for all of them.");
}

/** An IPv4 address. */
export function ipv4Address(text: string): string {
  if (isIPv4(text)) return text;
  throw new InvalidArgumentError("It must be an IPv4 address.");
}

/** A domain, in lower case. */
export function domainName(text: string): string {
  if (checkDnsSubdomain(text.toLowerCase()).length === 0) return text.toLowerCase();
  throw new InvalidArgumentError("It must be a domain such as cluster.local.");
}

/** The name of a node. */
export function nodeName(text: string): string {
  if (checkDnsSubdomain(text).length === 0) return text;
  throw new InvalidArgumentError("It must be lower-case letters, digits, '-' and '.'.");
}

/** The name of a network interface. */
export function bridgeName(text: string): string {
  if (/^[a-zA-Z][\w.-]{0,14}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be at most 15 letters, digits, '.', '-' or '_'.");
}
