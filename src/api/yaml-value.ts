import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type LineCounter,
  Scalar,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { isRecord } from "./object.ts";
import { resolvePlainScalar } from "./yaml-scalar.ts";
import { describeYamlError, MAX_YAML_DEPTH, YamlError } from "./yaml-tokens.ts";

/** The content of one document, as the JSON value it stands for (integers beyond 2^53 as bigint). */
export interface YamlValue {
  /** Undefined when there are errors. Values that an alias repeats are shared, not copied. */
  readonly value: unknown;
  readonly errors: string[];
  readonly warnings: string[];
}

/** Problems of one document beyond this number are not kept; the first few say what to mend. */
export const MAX_YAML_PROBLEMS = 10;
/** The cost of a value besides its characters. */
const VALUE_SIZE = 8;

interface Reader {
  readonly lines: LineCounter;
  readonly anchors: Map<string, { isComplete: false } | { isComplete: true; value: unknown; size: number }>;
  /** The size of all values read so far; repetitions by aliases count each time. */
  size: number;
  repeated: number;
  readonly maxRepeated: number;
  /** Where the text ends in the middle of a line; Infinity where it ends with a line break. */
  readonly openEnd: number;
  readonly warnings: string[];
}

/** What `readYamlValue` needs to know of the text. */
type ReadingOf = Pick<Reader, "lines" | "maxRepeated" | "openEnd">;

/**
 * Reads the nodes of a document. `maxRepeated` bounds the characters repeated by aliases, because a few lines of them
 * can stand for more than there is memory. Never throws.
 */
export function readYamlValue(contents: unknown, reading: ReadingOf): YamlValue {
  const reader: Reader = { ...reading, anchors: new Map(), warnings: [], size: 0, repeated: 0 };
  try {
    return { value: readNode(reader, contents, 0), errors: [], warnings: reader.warnings };
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return { value: undefined, errors: [error.message], warnings: reader.warnings };
  }
}

interface NodeLike {
  readonly range?: readonly [number, number, number] | null | undefined;
}

function fail(reader: Reader, node: NodeLike, message: string): YamlError {
  return new YamlError(describeYamlError(message, node.range?.[0] ?? 0, reader.lines));
}

function readNode(reader: Reader, node: unknown, depth: number): unknown {
  if (isAlias(node)) return readAlias(reader, node);
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return null;
  if (depth > MAX_YAML_DEPTH) throw fail(reader, node, `nested more than ${MAX_YAML_DEPTH} levels deep`);
  if (node.anchor !== undefined) reader.anchors.set(node.anchor, { isComplete: false });
  const sizeBefore = reader.size;
  reader.size += VALUE_SIZE + (isScalar(node) ? (node.source ?? "").length : 0);
  const value = readContent(reader, node, depth);
  const size = reader.size - sizeBefore;
  if (node.anchor !== undefined) reader.anchors.set(node.anchor, { isComplete: true, value, size });
  return value;
}

function readContent(reader: Reader, node: Scalar | YAMLMap | YAMLSeq, depth: number): unknown {
  if (isScalar(node)) return readScalar(reader, node);
  if (isMap(node)) return readMap(reader, node, depth);
  return node.items.map((item) => readNode(reader, item, depth + 1));
}

function readAlias(reader: Reader, alias: Alias): unknown {
  const anchor = reader.anchors.get(alias.source);
  if (!anchor) throw fail(reader, alias, `unknown anchor "${alias.source}"`);
  if (!anchor.isComplete) throw fail(reader, alias, `anchor "${alias.source}" contains itself`);
  reader.size += anchor.size;
  reader.repeated += anchor.size;
  if (reader.repeated > reader.maxRepeated) throw fail(reader, alias, "aliases repeat too much");
  return anchor.value;
}

const TAG_PREFIX = "tag:yaml.org,2002:";

function readScalar(reader: Reader, node: Scalar): unknown {
  const text = endsOpen(reader, node) ? (node.source ?? "").replace(/\n$/, "") : (node.source ?? "");
  if (node.tag === undefined) return node.type === Scalar.PLAIN ? resolvePlainScalar(text) : text;
  const tag = node.tag.startsWith(TAG_PREFIX) ? node.tag.slice(TAG_PREFIX.length) : "str";
  if (tag === "binary") return Buffer.from(text, "base64").toString();
  const isExpected = SCALAR_TAGS.get(tag);
  if (!isExpected) return text;
  const value = resolvePlainScalar(text);
  if (!isExpected(value)) throw fail(reader, node, `cannot read ${JSON.stringify(text)} as !!${tag}`);
  return value;
}

/** True for a block of lines whose last line has no end. The library adds one, and go-yaml does not. */
function endsOpen({ openEnd }: Reader, { type, range }: Scalar): boolean {
  return (type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED) && (range?.[1] ?? 0) >= openEnd;
}

const SCALAR_TAGS: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ["null", (value: unknown) => value === null],
  ["bool", (value: unknown) => typeof value === "boolean"],
  ["int", (value: unknown) => typeof value === "bigint" || Number.isInteger(value)],
  ["float", (value: unknown) => typeof value === "bigint" || typeof value === "number"],
]);

/** Reads a map in the text's order: later keys, and merges (`<<`), replace earlier ones, as in go-yaml v2. */
function readMap(reader: Reader, node: YAMLMap, depth: number): unknown {
  const entries = new Map<string, unknown>();
  const written = new Set<string>();
  for (const { key, value } of node.items) {
    if (isScalar(key) && key.type === Scalar.PLAIN && key.source === "<<") {
      for (const [name, item] of readMerge(reader, value, depth)) entries.set(name, item);
      continue;
    }
    const name = readKey(reader, key, depth);
    if (written.has(name)) {
      const { line } = reader.lines.linePos(isScalar(key) ? (key.range?.[0] ?? 0) : 0);
      // These are go-yaml's words, which have no column.
      warn(reader, `line ${line}: key ${JSON.stringify(name)} already set in map`);
    }
    written.add(name);
    entries.set(name, readNode(reader, value, depth + 1));
  }
  return Object.fromEntries(entries);
}

function warn(reader: Reader, message: string): void {
  if (reader.warnings.length < MAX_YAML_PROBLEMS) reader.warnings.push(message);
}

/** Converts a key to text: JSON has only string keys, so other scalars become their JSON text. */
function readKey(reader: Reader, key: unknown, depth: number): string {
  const value = readNode(reader, key, depth + 1);
  if (value !== null && typeof value !== "object") return String(value);
  const node = isScalar(key) || isMap(key) || isSeq(key) ? key : {};
  throw fail(reader, node, value === null ? "a key is empty" : "a key is not a scalar");
}

function readMerge(reader: Reader, node: unknown, depth: number): Array<[string, unknown]> {
  const value = readNode(reader, node, depth + 1);
  // The first of several merged maps wins, so it is written last.
  const maps = Array.isArray(value) ? value.toReversed() : [value];
  return maps.flatMap((map: unknown) => {
    if (isRecord(map)) return Object.entries(map);
    throw fail(reader, isScalar(node) || isAlias(node) ? node : {}, "a merge (<<) needs a map or a list of maps");
  });
}
