import { LRUCache } from "lru-cache";
import { RE2JS } from "re2js";
import { messageOf } from "../base/errors.ts";
import { estimatePatternSize } from "./pattern-size.ts";

/** A pattern in Go's RE2 syntax. Matching takes time in proportion to the text for any pattern. */
type CompiledPattern = Matcher | { readonly problem: string };

interface Matcher {
  /** True when the pattern is found anywhere in the text, unless it says otherwise. */
  matches(text: string): boolean;
  /** The parts of the text that the pattern matches, at most so many. */
  findAll(text: string, limit: number): string[];
}

/** Compiled patterns: they repeat from object to object, and a cluster has few of them. */
const compiled = new LRUCache<string, CompiledPattern>({ max: 2_000 });

/** The pattern, ready to test with; it matches anywhere in a text unless it says otherwise. */
export function compilePattern(pattern: string): CompiledPattern {
  const known = compiled.get(pattern);
  if (known) return known;
  const result = compile(pattern);
  compiled.set(pattern, result);
  return result;
}

/** True for a pattern that is compiled already, so that matching costs nothing beside. */
export function isCompiled(pattern: string): boolean {
  return compiled.has(pattern);
}

/** The longest pattern; an address of IPv6 takes about a thousand characters. */
const MAX_LENGTH = 4_096;
/** The greatest program that a pattern may make, in about the instructions of one: `[a-z]{1,253}` makes 253. */
const MAX_SIZE = 3_000;

function compile(pattern: string): CompiledPattern {
  if (pattern.length > MAX_LENGTH) return { problem: `it has more than ${MAX_LENGTH} characters` };
  if (estimatePatternSize(pattern) > MAX_SIZE) return { problem: `its repetitions make more than ${MAX_SIZE} states` };
  try {
    const engine = RE2JS.compile(pattern);
    return {
      matches: (text) => engine.matcher(text).find(),
      findAll(text, limit) {
        const matcher = engine.matcher(text);
        const found: string[] = [];
        while (found.length < limit && matcher.find()) found.push(matcher.group() ?? "");
        return found;
      },
    };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
