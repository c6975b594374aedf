import { measureJson } from "../../api/scan-json.ts";

/** Half a million values are parsed in some 50 ms; an object of the API has a tenth of that at most. */
const MAX_VALUES = 500_000;
/** All that walks an object recurses. */
const MAX_DEPTH = 1_000;
/** A shorter text cannot hold what takes long. */
const MEASURED_BYTES = 16 * 1024;

/**
 * Parses an answer that is no list. Undefined for text that is no JSON, and for one that holds more, or deeper, than any
 * object does: it would keep everything else waiting, and take many times its length.
 */
export function parseAnswer(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (text.length > MEASURED_BYTES && isTooMuch(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isTooMuch(text: string): boolean {
  const { values, depth } = measureJson(text, { maxValues: MAX_VALUES, maxDepth: MAX_DEPTH });
  return values > MAX_VALUES || depth > MAX_DEPTH;
}
