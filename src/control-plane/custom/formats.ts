import { checkDnsLabel, checkDnsSubdomain, isIpAddress } from "../../api/validation/names.ts";

/**
 * The formats that are checked, as kube-apiserver lists them in apiextensions-apiserver's `formats.go`, by name without
 * dashes, in lower case. Any other format has no effect.
 */
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map<string, (text: string) => boolean>([
  ["bsonobjectid", matches(/^[0-9a-f]{24}$/i)],
  ["byte", (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)],
  ["cidr", isCidr],
  ["creditcard", isCreditCard],
  ["date", (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isTime(`${text}T00:00:00Z`)],
  ["datetime", (text) => DATE_TIME.test(text) && isTime(text)],
  ["duration", matches(/^[-+]?(\d+(\.\d*)?|\.\d+)\s*[a-z\u00b5\u03bc]+((\d+(\.\d*)?|\.\d+)[a-z\u00b5\u03bc]+)*$|^0$/i)],
  ["email", matches(/^[^\s@<>]+@[^\s@<>]+$/)],
  ["hexcolor", matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ["hostname", isHostname],
  ["ipv4", (text) => isIpAddress(text) && !text.includes(":")],
  ["ipv6", (text) => isIpAddress(text) && text.includes(":")],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => checkDnsSubdomain(text).length === 0],
  ["k8sshortname", (text) => checkDnsLabel(text).length === 0],
  ["mac", (text) => MAC.test(text)],
  ["password", () => true],
  ["rgbcolor", isRgbColor],
  ["ssn", matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/)],
  ["uri", isUri],
  ["uuid", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid3", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i)],
  ["uuid4", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
  ["uuid5", matches(/^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i)],
]);

const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[-+]\d\d:?\d\d)$/;

const normalize = (format: string) => format.replaceAll("-", "").toLowerCase();

/** The formats of numbers. They are hints for clients, and not checked. */
const NUMBER_FORMATS: ReadonlyMap<string, readonly string[]> = new Map([
  ["integer", ["int32", "int64"]],
  ["number", ["float", "double"]],
]);

/** True for a format that means something for values of the type. */
export function isKnownFormat(type: string | undefined, format: string): boolean {
  if (type === undefined || type === "" || type === "string") return FORMATS.has(normalize(format));
  return NUMBER_FORMATS.get(type)?.includes(format) ?? false;
}

/** True when the text has the format, and for formats that are not checked. */
export function hasFormat(format: string, text: string): boolean {
  return FORMATS.get(normalize(format))?.(text) ?? true;
}

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** False for the thirtieth of February, which Date.parse takes for the first of March. */
function isTime(text: string): boolean {
  const [, month = "", day = ""] = /^\d{4}-(\d\d)-(\d\d)/.exec(text) ?? [];
  const atNoon = new Date(`${text.slice(0, 10)}T12:00:00Z`);
  return (
    !Number.isNaN(Date.parse(text.replace(" ", "T"))) &&
    atNoon.getUTCMonth() + 1 === Number(month) &&
    atNoon.getUTCDate() === Number(day)
  );
}

function isCidr(text: string): boolean {
  const [address = "", length = "", ...more] = text.split("/");
  const max = address.includes(":") ? 128 : 32;
  return more.length === 0 && isIpAddress(address) && /^\d{1,3}$/.test(length) && Number(length) <= max;
}

function isHostname(text: string): boolean {
  const label = /^[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?$/;
  const labels = text.replace(/\.$/, "").split(".");
  return text.length <= 253 && labels.every((part) => label.test(part));
}

const MAC = /^([0-9a-f]{2}:){5}[0-9a-f]{2}$|^([0-9a-f]{2}-){5}[0-9a-f]{2}$|^([0-9a-f]{4}\.){2}[0-9a-f]{4}$/i;

/** An absolute URI, or its path alone. */
function isUri(text: string): boolean {
  if (text === "" || /\s/.test(text)) return false;
  return text.startsWith("/") || (/^[a-z][-+.a-z0-9]*:/i.test(text) && URL.canParse(text));
}

function isRgbColor(text: string): boolean {
  const [, ...parts] = /^rgb\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)$/.exec(text) ?? [];
  return parts.length === 3 && parts.every((part) => Number(part) <= 255);
}

const CREDIT_CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;

/** Checks the last digit by Luhn's formula. */
function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, "");
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return CREDIT_CARD.test(digits) && sum % 10 === 0;
}

function isIsbn10(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  const sum = [...digits].reduce(
    (total, digit, index) => total + (10 - index) * (digit === "X" ? 10 : Number(digit)),
    0,
  );
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replaceAll(/[\s-]/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3), 0) % 10 === 0;
}
