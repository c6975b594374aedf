import { measureJson } from "./scan-json.ts";

/** All that walks an object recurses. */
const MAX_DEPTH = 1_000;

/**
 * Why a text that somebody answered with is better not parsed: two million values fit into six megabytes, and each takes time
 * and memory of everybody's. Undefined where it may be; whether it is JSON is not looked at.
 */
export function findJsonExcess(text: string, { maxValues }: { readonly maxValues: number }): string | undefined {
  const { values, depth } = measureJson(text, { maxValues, maxDepth: MAX_DEPTH });
  if (values > maxValues) return `more than ${maxValues} values`;
  return depth > MAX_DEPTH ? `more than ${MAX_DEPTH} levels` : undefined;
}
