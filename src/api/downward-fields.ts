import type { Pod, ResourceFieldSelector } from "./gen/types.ts";
import { podContainers, podReference } from "./pods.ts";
import { compareQuantities, quantityMilliValue, quantityValue } from "./quantity.ts";
import type { ResourceList } from "./resources.ts";

/**
 * Returns a field of a pod's metadata as the downward API writes it into a file. Labels and annotations as a whole have
 * one `key="value"` on each line, sorted by key. Throws with upstream's words where the path names no field
 * (pkg/fieldpath).
 */
export function readMetadataField(pod: Pod, fieldPath: string): string {
  const { name, namespace, uid } = podReference(pod);
  const { labels = {}, annotations = {} } = pod.metadata ?? {};
  const [, map, key] = /^(.+?)\['(.*)'\]$/s.exec(fieldPath) ?? [];
  if (map !== undefined && key !== undefined) {
    if (map === "metadata.labels") return ownValue(labels, key);
    if (map === "metadata.annotations") return ownValue(annotations, key);
    throw new Error(`fieldPath ${quoteAsGo(map)} does not support subscript`);
  }
  switch (fieldPath) {
    case "metadata.name":
      return name;
    case "metadata.namespace":
      return namespace;
    case "metadata.uid":
      return uid;
    case "metadata.labels":
      return formatFieldMap(labels);
    case "metadata.annotations":
      return formatFieldMap(annotations);
    default:
      throw new Error(`unsupported fieldPath: ${fieldPath}`);
  }
}

function ownValue(values: Readonly<Record<string, string>>, key: string): string {
  return Object.hasOwn(values, key) ? (values[key] ?? "") : "";
}

function formatFieldMap(values: Readonly<Record<string, string>>): string {
  const keys = Object.keys(values).sort();
  return keys.map((key) => `${key}=${quoteAsGo(values[key] ?? "")}`).join("\n");
}

/**
 * Returns the request or limit of the container that the selector names, in units of its divisor, rounded up. A
 * container without a limit may use what the node has for pods; without a request it asks for 0
 * (pkg/api/v1/resource/helpers.go).
 */
export function readContainerResource(pod: Pod, selector: ResourceFieldSelector, allocatable: ResourceList): string {
  const { containerName = "", resource: field, divisor = "0" } = selector;
  const container = podContainers(pod).find((each) => each.container.name === containerName)?.container;
  if (container === undefined) throw new Error(`container ${containerName} not found`);
  const [, list, resource = ""] = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/.exec(field) ?? [];
  if (list === undefined) throw new Error(`Unsupported container resource : ${field}`);
  const { limits = {}, requests = {} } = container.resources ?? {};
  const quantity = list === "limits" ? limitOf(limits, resource, allocatable) : (requests[resource] ?? "0");
  const amountOf = resource === "cpu" ? quantityMilliValue : quantityValue;
  const unit = amountOf(compareQuantities(divisor, "0") === 0 ? "1" : divisor);
  return `${(amountOf(quantity) + unit - 1n) / unit}`;
}

function limitOf(limits: ResourceList, resource: string, allocatable: ResourceList): string {
  const limit = limits[resource] ?? "0";
  if (compareQuantities(limit, "0") !== 0 || resource.startsWith("hugepages-")) return limit;
  return allocatable[resource] ?? "0";
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
};

/** Quotes as Go's `strconv.Quote`, with which upstream prints map values: invisible characters are escaped. */
function quoteAsGo(text: string): string {
  const escaped = text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (character) => {
    return SHORT_ESCAPES[character] ?? escapeCodePoint(character.codePointAt(0) ?? 0);
  });
  return `"${escaped}"`;
}

function escapeCodePoint(code: number): string {
  const hex = code.toString(16);
  if (code < 0x20 || code === 0x7f) return `\\x${hex.padStart(2, "0")}`;
  return code < 0x1_0000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
