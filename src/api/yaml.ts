import { type Document, LineCounter } from "yaml";
import { messageOf } from "../base/errors.ts";
import { composeYaml, describeYamlError, type YamlLimits } from "./yaml-tokens.ts";
import { MAX_YAML_PROBLEMS, readYamlValue, type YamlValue } from "./yaml-value.ts";

/** One document of a YAML text. */
export interface YamlDocument extends YamlValue {
  /** 1 for the first; empty documents count but are not returned. */
  readonly number: number;
}

/** Limits for what lies on this machine: its owner's files, which are read at one go. */
const LOCAL_LIMITS: YamlLimits = { maxLines: 2_000_000, maxTokens: 5_000_000, maxRepeated: 4 * 1024 * 1024 };

/**
 * Limits for what anybody may send. They are set so that no single step of reading, and the handling of the object
 * after it, takes longer than other clients can wait.
 */
const SENT_LIMITS: YamlLimits = { maxLines: 60_000, maxTokens: 40_000, maxRepeated: 128 * 1024 };

/**
 * Reads YAML (or JSON, which is YAML) as Kubernetes' tools do: YAML 1.1 by go-yaml v2's rules. Duplicate keys are a
 * warning and the last one wins. Never throws: a text that cannot be read gives an error with its line and column.
 */
export function parseYaml(text: string): YamlDocument[] {
  const steps = readDocuments(text, LOCAL_LIMITS);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** As `parseYaml`, for text of others: tighter limits, and `pause` is awaited after every few milliseconds of work. */
export async function parseSentYaml(text: string, pause: () => Promise<void>): Promise<YamlDocument[]> {
  const steps = readDocuments(text, SENT_LIMITS);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}

function* readDocuments(text: string, limits: YamlLimits): Generator<void, YamlDocument[]> {
  const lines = new LineCounter();
  try {
    const documents = yield* composeYaml(text, limits, lines);
    yield;
    const openEnd = text.endsWith("\n") ? Number.POSITIVE_INFINITY : text.length;
    return documents.flatMap((document, index) => {
      const read = readDocument(document, { lines, openEnd, maxRepeated: limits.maxRepeated });
      return read.value === null && read.errors.length === 0 ? [] : [{ number: index + 1, ...read }];
    });
  } catch (error) {
    const isOverflow = error instanceof RangeError;
    return [
      { number: 1, value: undefined, errors: [isOverflow ? "nested too deeply" : messageOf(error)], warnings: [] },
    ];
  }
}

function readDocument({ errors, contents }: Document.Parsed, reading: Parameters<typeof readYamlValue>[1]): YamlValue {
  if (errors.length === 0) return readYamlValue(contents, reading);
  const shown = errors.slice(0, MAX_YAML_PROBLEMS);
  const described = shown.map(({ message, pos }) => describeYamlError(message, pos[0], reading.lines));
  return { value: undefined, errors: described, warnings: [] };
}
