import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** The stored object as this kind shows it: converted, where the kind is a view of another. */
export function viewOf(kind: ResourceKind, stored: StoredObject): KubeObject {
  return kind.storedAs ? kind.storedAs.fromStored(stored.object) : stored.object;
}

/**
 * The same, parsed for this one use and forgotten after it: for whoever goes through thousands, of which the store would
 * keep the parsed form until memory is next collected.
 */
export function passingViewOf(kind: ResourceKind, stored: StoredObject): KubeObject {
  const object = parseStored(stored);
  return kind.storedAs ? kind.storedAs.fromStored(object) : object;
}

/** See `passingViewOf`, in the form in which it is stored. */
export function parseStored({ json }: StoredObject): KubeObject {
  const object: KubeObject = JSON.parse(json.toString());
  return object;
}

/** What a dry run answers in place of what it would have stored. */
export function unstored(kind: ResourceKind, object: KubeObject): StoredObject {
  const form = storedForm(kind, object);
  return { key: "", revision: 0, object: form, json: Buffer.from(JSON.stringify(form)) };
}

/** The way back, before it is stored. */
export function storedForm(kind: ResourceKind, object: KubeObject): KubeObject {
  return kind.storedAs ? kind.storedAs.toStored(object) : object;
}

/** With some of the metadata replaced; a value of undefined takes the field away. */
export function withMetadata(
  object: KubeObject,
  changes: { readonly [Field in keyof KubeObject["metadata"]]?: KubeObject["metadata"][Field] | undefined },
): KubeObject {
  const entries = Object.entries({ ...object.metadata, ...changes }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(entries) };
}

/** Everything of `object` but its status, which comes from `current` (or is absent as there). */
export function withStatusOf(object: KubeObject, current: KubeObject): KubeObject {
  const { status: _ignored, ...rest } = object;
  return { ...rest, ...(current["status"] !== undefined && { status: current["status"] }), ...identityOf(object) };
}

/** The status and the metadata of `next`, and all else of `current`. */
export function withStatusAlone(next: KubeObject, current: KubeObject): KubeObject {
  const { status: _ignored, ...rest } = current;
  return {
    ...rest,
    ...identityOf(current),
    metadata: next.metadata,
    ...(next["status"] !== undefined && { status: next["status"] }),
  };
}

/** With the metadata of `current`, but for who manages what. */
export function withMetadataOf(next: KubeObject, current: KubeObject): KubeObject {
  return withMetadata({ ...next, metadata: current.metadata }, { managedFields: next.metadata.managedFields });
}

/**
 * True when the two differ in more than metadata, and in more than the status where that is a subresource: what
 * `metadata.generation` counts.
 */
export function isSpecChanged(a: KubeObject, b: KubeObject, { hasStatus }: { hasStatus: boolean }): boolean {
  return !isDeepStrictEqual(specOf(a, hasStatus), specOf(b, hasStatus));
}

function specOf({ metadata: _metadata, status, ...rest }: KubeObject, hasStatus: boolean): Record<string, unknown> {
  return hasStatus ? rest : { ...rest, status };
}

const identityOf = ({ apiVersion, kind, metadata }: KubeObject) => ({ apiVersion, kind, metadata });

/** `v1`, `apps/v1` of the kind. */
export const apiVersion = (kind: ResourceKind) => apiVersionOf(kind);
