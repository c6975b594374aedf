import { assert } from "../base/assert.ts";

/**
 * A Kubernetes quantity (`100m`, `1.5Gi`, `12e6`), exact: a whole number of nanos and the family of suffixes to write
 * it with. Finer values round away from zero, so that a request never becomes nothing.
 */
interface Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
}

type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

const NANOS_PER_UNIT = 10n ** 9n;
const NANOS_PER_MILLI = 10n ** 6n;
/** Binary quantities are capped here, as upstream's are. */
const MAX_BINARY_NANOS = (2n ** 63n - 1n) * NANOS_PER_UNIT;

/** Longer texts and larger exponents are refused, because they name no sensible amount and would only cost memory. */
const MAX_TEXT_LENGTH = 128;
const MAX_EXPONENT = 99;

const DECIMAL_SUFFIXES = new Map([
  ["n", -9],
  ["u", -6],
  ["m", -3],
  ["", 0],
  ["k", 3],
  ["M", 6],
  ["G", 9],
  ["T", 12],
  ["P", 15],
  ["E", 18],
]);
const BINARY_SUFFIXES = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/** Undefined when the text is no quantity: no digits, an unknown suffix, surrounding space, or beyond the limits above. */
export function parseQuantity(text: string): Quantity | undefined {
  if (text.length > MAX_TEXT_LENGTH) return undefined;
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([a-zA-Z]*(?:(?<=[eE])[+-]?\d+)?)$/.exec(text);
  const [, sign = "", whole = "", fraction = "", suffix = ""] = match ?? [];
  const digits = whole + fraction;
  if (digits === "") return undefined;
  const magnitude = readSuffix(suffix);
  if (magnitude === undefined) return undefined;
  const scaled = BigInt(digits) * magnitude.multiplier;
  let nanos = shiftDecimal(scaled, magnitude.exponent + 9 - fraction.length);
  if (magnitude.format === "BinarySI" && nanos > MAX_BINARY_NANOS) nanos = MAX_BINARY_NANOS;
  return { nanos: sign === "-" ? -nanos : nanos, format: magnitude.format };
}

function readSuffix(suffix: string): { multiplier: bigint; exponent: number; format: QuantityFormat } | undefined {
  const decimal = DECIMAL_SUFFIXES.get(suffix);
  if (decimal !== undefined) return { multiplier: 1n, exponent: decimal, format: "DecimalSI" };
  const binary = BINARY_SUFFIXES.indexOf(suffix);
  if (binary >= 0) return { multiplier: 1024n ** BigInt(binary + 1), exponent: 0, format: "BinarySI" };
  if (!/^[eE][+-]?\d+$/.test(suffix)) return undefined;
  const exponent = Number(suffix.slice(1));
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  return { multiplier: 1n, exponent, format: "DecimalExponent" };
}

/** value × 10^places, rounded up; `value` is not negative. */
function shiftDecimal(value: bigint, places: number): bigint {
  return places >= 0 ? value * 10n ** BigInt(places) : divideAwayFromZero(value, 10n ** BigInt(-places));
}

function divideAwayFromZero(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  if (quotient * divisor === value) return quotient;
  return value < 0n ? quotient - 1n : quotient + 1n;
}

/** The canonical text: no fraction, the largest suffix that keeps the value exact, as kube-apiserver writes it. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.nanos === 0n) return "0";
  if (quantity.format === "BinarySI") {
    const units = quantity.nanos / NANOS_PER_UNIT;
    const isWhole = units * NANOS_PER_UNIT === quantity.nanos;
    // Binary suffixes cannot express a value below 1Ki or a fraction; decimal suffixes can.
    if (isWhole && (units >= 1024n || units <= -1024n)) return formatBinary(units);
    return formatDecimal(quantity.nanos, "DecimalSI");
  }
  return formatDecimal(quantity.nanos, quantity.format);
}

function formatBinary(units: bigint): string {
  let mantissa = units;
  let suffix = "";
  for (const next of BINARY_SUFFIXES) {
    if (mantissa % 1024n !== 0n) break;
    mantissa /= 1024n;
    suffix = next;
  }
  return `${mantissa}${suffix}`;
}

function formatDecimal(nanos: bigint, format: "DecimalSI" | "DecimalExponent"): string {
  const largest = format === "DecimalSI" ? 18 : Number.POSITIVE_INFINITY;
  let mantissa = nanos;
  let exponent = -9;
  while (mantissa % 1000n === 0n && exponent < largest) {
    mantissa /= 1000n;
    exponent += 3;
  }
  if (format === "DecimalExponent") return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  const suffix = [...DECIMAL_SUFFIXES].find(([, power]) => power === exponent)?.[0] ?? "";
  return `${mantissa}${suffix}`;
}

/** The value of a validated quantity; other text is a programmer's error and throws. */
function requireQuantity(text: string): Quantity {
  const quantity = parseQuantity(text);
  assert(quantity !== undefined, `not a quantity: ${JSON.stringify(text)}`);
  return quantity;
}

/** In whole units (bytes, cores), rounded up. The text must be a valid quantity. */
export function quantityValue(text: string): bigint {
  return divideAwayFromZero(requireQuantity(text).nanos, NANOS_PER_UNIT);
}

/** In thousandths (millicores), rounded up. The text must be a valid quantity. */
export function quantityMilliValue(text: string): bigint {
  return divideAwayFromZero(requireQuantity(text).nanos, NANOS_PER_MILLI);
}

/** Negative, zero or positive as a is less than, equal to or greater than b. Both must be valid quantities. */
export function compareQuantities(a: string, b: string): -1 | 0 | 1 {
  const difference = requireQuantity(a).nanos - requireQuantity(b).nanos;
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

/** a + b, canonical, in a's format (b's where a is zero). Both must be valid quantities. */
export function addQuantities(a: string, b: string): string {
  return combine(a, b, (x, y) => x + y);
}

/** a - b, canonical, in a's format (b's where a is zero). Both must be valid quantities. */
export function subtractQuantities(a: string, b: string): string {
  return combine(a, b, (x, y) => x - y);
}

function combine(a: string, b: string, operation: (x: bigint, y: bigint) => bigint): string {
  const left = requireQuantity(a);
  const right = requireQuantity(b);
  const format = left.nanos === 0n ? right.format : left.format;
  return formatQuantity({ nanos: operation(left.nanos, right.nanos), format });
}
