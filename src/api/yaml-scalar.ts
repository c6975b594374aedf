/**
 * Gives an unquoted YAML scalar its meaning by the rules that Kubernetes' tools use (YAML 1.1 as go-yaml v2 reads it):
 * `0644` is octal, `yes` and `on` are booleans, times and sexagesimals stay strings. Integers that a number cannot hold
 * exactly are bigints.
 */
export function resolvePlainScalar(text: string): null | boolean | number | bigint | string {
  const known = WORDS.get(text);
  if (known !== undefined) return known;
  if (!/^[-+.\d]/.test(text)) return text;
  return resolveInteger(text) ?? resolveFloat(text) ?? text;
}

const WORDS: ReadonlyMap<string, null | boolean | number> = new Map<string, null | boolean | number>([
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, Number.NaN] as const),
]);

/** More digits than any 64-bit integer has (binary with its prefix); longer texts are floats or strings. */
const MAX_INTEGER_LENGTH = 68;
const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

function resolveInteger(text: string): number | bigint | undefined {
  const plain = text.replaceAll("_", "");
  const match = /^([-+]?)(0|[1-9]\d*|0[xX][\da-fA-F]+|0[oO]?[0-7]+|0[bB][01]+)$/.exec(plain);
  if (!match || plain.length > MAX_INTEGER_LENGTH) return undefined;
  const [, sign = "", digits = ""] = match;
  const magnitude = BigInt(/^0[oO]?\d/.test(digits) ? `0o${digits.replace(/^0[oO]?/, "")}` : digits);
  const value = sign === "-" ? -magnitude : magnitude;
  if (value > MAX_UINT64 || value < MIN_INT64) return undefined;
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function resolveFloat(text: string): number | undefined {
  const plain = text.startsWith(".") ? text : text.replaceAll("_", "");
  return /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(plain) ? Number(plain) : undefined;
}
