import { findJsonExcess } from "../../api/json-excess.ts";

/** Half a million values are parsed in some 50 ms; an object of the API has a tenth of that at most. */
const MAX_VALUES = 500_000;
/** A shorter text cannot hold what takes long. */
const MEASURED_BYTES = 16 * 1024;

/**
 * Parses an answer that is no list. Undefined for text that is no JSON, and for one that holds more, or deeper, than any
 * object does: it would keep everything else waiting, and take many times its length.
 */
export function parseAnswer(body: Buffer): unknown {
  const text = body.toString("utf8");
  if (text.length > MEASURED_BYTES && findJsonExcess(text, { maxValues: MAX_VALUES }) !== undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
