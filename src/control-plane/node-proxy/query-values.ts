import { badRequestError } from "../../api/api-error.ts";

/** Reads a boolean as apimachinery does (`Convert_Slice_string_To_bool`): any value that does not mean no means yes. */
export function readFlag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== "0" && value.toLowerCase() !== "false";
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/** A whole number of 64 bits; undefined where there is none. Throws BadRequest in the words of Go's strconv. */
export function readInteger(query: URLSearchParams, name: string): bigint | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const quoted = JSON.stringify(text);
  if (!/^[+-]?\d+$/.test(text)) throw badRequestError(`strconv.ParseInt: parsing ${quoted}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ""));
  if (value >= MIN_INT64 && value <= MAX_INT64) return value;
  throw badRequestError(`strconv.ParseInt: parsing ${quoted}: value out of range`);
}

/** Sorted by name as Go encodes a query, values of one name in their order. */
export function encodeQuery(values: ReadonlyArray<readonly [string, string]>): string {
  const query = new URLSearchParams();
  for (const [name, value] of values) query.append(name, value);
  query.sort();
  return query.toString();
}
