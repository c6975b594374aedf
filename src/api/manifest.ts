import { messageOf } from "../base/errors.ts";
import { decodeObject } from "./decode.ts";
import { formatFieldError, showValue } from "./field-error.ts";
import type { Pod } from "./gen/types.ts";
import { isKubeObject, isRecord, type KubeObject } from "./object.ts";
import { parseYaml, type YamlDocument } from "./yaml.ts";

/** One pod of a manifest, or the reason why there is none. */
export interface ManifestDocument {
  /** 1 for the first document of the text. */
  readonly document: number;
  /** The pod's place in the document's list; absent when the document is a single pod. */
  readonly item?: number;
  /** The pod is decoded, neither defaulted nor validated. It is absent exactly when there are errors. */
  readonly pod?: Pod;
  /** An object of another kind, as it stands in the text. Its errors say that it is no pod. */
  readonly other?: KubeObject;
  /** Complete sentences, each naming its field or its line. */
  readonly errors: string[];
  readonly warnings: string[];
}

/** Pods beyond this many in one text are refused, with an error that says so; the ones before are taken. */
const MAX_PODS = 2_000;

/** YAML beyond this is refused: its parser needs a hundred times the text in memory. JSON may be longer. */
const MAX_YAML_BYTES = 2 * 1024 * 1024;

const ACCEPTED = 'a Pod, PodList or List of apiVersion "v1"';

/**
 * Reads the pods of a manifest: YAML or JSON, one or several documents, each a Pod, a PodList or a List of Pods. Empty
 * documents are skipped. A document that cannot be read does not affect the others. Never throws.
 */
export function parseManifest(text: string | Buffer): ManifestDocument[] {
  const decoded = typeof text === "string" ? text : decodeUtf8(text);
  if (decoded === undefined) return [{ document: 1, errors: ["not UTF-8 text"], warnings: [] }];
  const found = readDocuments(decoded.startsWith("\uFEFF") ? decoded.slice(1) : decoded).flatMap(readPods);
  if (found.length <= MAX_PODS) return found;
  const refused = found[MAX_PODS]?.document ?? 1;
  return [
    ...found.slice(0, MAX_PODS),
    { document: refused, errors: [`more than ${MAX_PODS} pods: the rest is not taken`], warnings: [] },
  ];
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function readYaml(text: string): YamlDocument[] {
  if (text.length <= MAX_YAML_BYTES) return parseYaml(text);
  const limit = `${MAX_YAML_BYTES / 1024 / 1024} MiB`;
  const error = `YAML of more than ${limit} is not read: split it into several files, or write it as JSON`;
  return [{ number: 1, value: undefined, errors: [error], warnings: [] }];
}

/**
 * JSON is tried first, because its own parser is many times faster. YAML flow mappings look like JSON and are no error.
 */
function readDocuments(text: string): YamlDocument[] {
  if (!/^\s*[{[]/.test(text)) return readYaml(text);
  try {
    return [{ number: 1, value: JSON.parse(text), errors: [], warnings: [] }];
  } catch (error) {
    const documents = readYaml(text);
    const isReadable = documents.every(({ errors }) => errors.length === 0);
    if (isReadable || documents.length > 1 || !/^\s*[{[]\s*["{[]/.test(text)) return documents;
    // The error reported is JSON's and not YAML's, because the author most likely meant JSON.
    return [
      { number: 1, value: undefined, errors: [`${messageOf(error)}${lineAndColumn(text, error)}`], warnings: [] },
    ];
  }
}

/** JSON.parse names only the offset; newer Node.js adds the line itself. */
function lineAndColumn(text: string, error: unknown): string {
  const offset = /at position (\d+)$/.exec(messageOf(error))?.[1];
  if (offset === undefined) return "";
  const before = text.slice(0, Number(offset)).split("\n");
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}

function readPods({ number, value, errors, warnings }: YamlDocument): ManifestDocument[] {
  if (errors.length > 0) return [{ document: number, errors, warnings }];
  const { apiVersion, kind, items } = typeOf(value);
  if (apiVersion === "v1" && kind === "Pod") return [{ document: number, ...readPod(value, "", warnings) }];
  if (apiVersion !== "v1" || (kind !== "PodList" && kind !== "List")) {
    return [{ document: number, ...readOther(value), errors: [refusal(value, ACCEPTED)], warnings }];
  }
  if (items === undefined || items === null) return [];
  if (!Array.isArray(items)) return [{ document: number, errors: ["items: expected list"], warnings }];
  return items.slice(0, MAX_PODS + 1).map((item: unknown, index) => {
    const path = `items[${index}]`;
    const ownWarnings = index === 0 ? warnings : [];
    const type = typeOf(item);
    // The items of a PodList need not repeat their type.
    const isPod = type.apiVersion === "v1" && type.kind === "Pod";
    const isImplied = kind === "PodList" && type.apiVersion === undefined && type.kind === undefined;
    if (isPod || isImplied) return { document: number, item: index, ...readPod(item, path, ownWarnings) };
    const errors = [`${path}: ${refusal(item, 'a Pod of apiVersion "v1"')}`];
    return { document: number, item: index, ...readOther(item), errors, warnings: ownWarnings };
  });
}

function readOther(value: unknown): Pick<ManifestDocument, "other"> {
  return isKubeObject(value) ? { other: value } : {};
}

function typeOf(value: unknown): { apiVersion?: unknown; kind?: unknown; items?: unknown } {
  return isRecord(value) ? value : {};
}

function refusal(value: unknown, accepted: string): string {
  const { apiVersion, kind } = typeOf(value);
  if (!isRecord(value)) return `expected ${accepted}, got no object`;
  const found = `kind ${showValue(kind ?? "")} of apiVersion ${showValue(apiVersion ?? "")}`;
  return `expected ${accepted}, got ${found}${isRecord(value["metadata"]) ? "" : " without metadata"}`;
}

function readPod(
  value: unknown,
  path: string,
  documentWarnings: string[],
): Pick<ManifestDocument, "pod" | "errors" | "warnings"> {
  const { value: pod, errors, warnings } = decodeObject("Pod", value, path);
  const lines = [...documentWarnings, ...warnings.map(({ message }) => message)];
  if (!pod) return { errors: errors.map(formatFieldError), warnings: lines };
  return { pod: { ...pod, apiVersion: "v1", kind: "Pod" }, errors: [], warnings: lines };
}
