import { isKubeObject, type KubeObject } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import { withoutManagedFields } from "./changes.ts";
import { checkApplied } from "./check-applied.ts";
import { compareObjects } from "./compare.ts";
import { claimedSet } from "./extract-set.ts";
import { difference, type FieldSet } from "./field-set.ts";
import { goJson } from "./json-value.ts";

/** The annotation in which client-side apply keeps the object that it applied. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const MAX_ANNOTATION_BYTES = 256 * 1024;

/**
 * Returns the fields that client-side apply has set and that still are so. Server-side apply by kubectl's default
 * manager takes them over without a conflict. Undefined when there is no such record, or it does not fit the object.
 */
export function clientAppliedSet(node: SchemaNode, live: KubeObject): FieldSet | undefined {
  const configuration = parseConfiguration(live.metadata.annotations?.[LAST_APPLIED]);
  if (configuration?.apiVersion !== live.apiVersion) return undefined;
  const bare = withoutManagedFields(live);
  if (checkApplied(node, configuration) !== undefined || checkApplied(node, bare) !== undefined) return undefined;
  const { added, modified, removed } = compareObjects(node, configuration, bare);
  const claimed = claimedSet(node, configuration);
  return difference(difference(difference(claimed, modified), added), removed);
}

function parseConfiguration(text: string | undefined): KubeObject | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isKubeObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the object with its record of client-side apply, if it has one, brought up to what is applied now. A user who
 * goes back to client-side apply then finds what it must remove. The record is left out when the annotations would
 * become too large.
 */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (!annotations?.[LAST_APPLIED]) return object;
  const record = `${goJson(withoutRecord(applied))}\n`;
  if (record === annotations[LAST_APPLIED]) return object;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  const full = { ...annotations, [LAST_APPLIED]: record };
  return { ...object, metadata: { ...object.metadata, annotations: fits(full) ? full : others } };
}

function withoutRecord(applied: KubeObject): KubeObject {
  const { annotations } = applied.metadata;
  if (annotations?.[LAST_APPLIED] === undefined) return applied;
  const { [LAST_APPLIED]: _, ...others } = annotations;
  return { ...applied, metadata: { ...applied.metadata, annotations: others } };
}

function fits(annotations: Readonly<Record<string, string>>): boolean {
  let bytes = 0;
  for (const [name, value] of Object.entries(annotations)) bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
  return bytes <= MAX_ANNOTATION_BYTES;
}
