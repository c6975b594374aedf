import { messageOf } from "../base/errors.ts";
import { ApiError, badRequestError } from "./api-error.ts";
import { findDuplicateFields, measureJson } from "./scan-json.ts";

interface ParsedJson {
  /** The value; a field that is written twice has the last of its values. */
  readonly value: unknown;
  /**
   * The duplicates in upstream's strict-decoding words: `duplicate field "spec.a"`. Each is there once, at most a
   * hundred.
   */
  readonly duplicates: string[];
}

/**
 * Whatever handles an object afterwards recurses, and its stack must be deep enough for it. Go's decoder takes ten
 * times as much.
 */
const MAX_DEPTH = 1_000;
/**
 * The bound on the values of one text: three MiB of `{},` are a million objects, and everything that handles them
 * afterwards takes its time for each.
 */
const MAX_VALUES = 100_000;
const MAX_DUPLICATES = 100;

/**
 * Reads JSON that somebody sent. Throws BadRequest for a text that is no JSON, nests too deeply, or holds a number
 * beyond all bounds, and RequestEntityTooLarge for one of too many values, before anything of it is built.
 */
export function parseStrictJson(text: string): ParsedJson {
  const { values, depth, names } = measureJson(text, { maxValues: MAX_VALUES, maxDepth: MAX_DEPTH });
  if (depth > MAX_DEPTH) throw badRequestError("exceeded max depth");
  if (values > MAX_VALUES) {
    throw new ApiError("RequestEntityTooLarge", `Request entity too large: limit is ${MAX_VALUES} values`);
  }
  const value = parse(text);
  // Each name that is written makes a field, unless another one has it.
  const hasDuplicates = names !== countFields(value);
  const duplicates = hasDuplicates ? findDuplicateFields(text, MAX_DUPLICATES) : [];
  return { value, duplicates: duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequestError(`the body of the request is not valid JSON: ${messageOf(error)}`);
  }
}

/** The number of all objects' fields. Throws BadRequest for a number beyond all bounds. */
function countFields(root: unknown): number {
  let fields = 0;
  const rest: unknown[] = [root];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw badRequestError("json: cannot unmarshal number into Go value of type float64");
    }
    if (typeof value !== "object" || value === null) continue;
    const items: unknown[] = Object.values(value);
    if (!Array.isArray(value)) fields += items.length;
    for (const item of items) rest.push(item);
  }
  return fields;
}
