import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** The stored object as this kind shows it. It is converted when the kind is a view of another kind. */
export function viewOf(kind: ResourceKind, stored: StoredObject): KubeObject {
  return kind.storedAs ? kind.storedAs.fromStored(stored.object) : stored.object;
}

/**
 * The same, parsed for this one use and not kept. It is for callers that read thousands of objects, whose parsed form
 * the store would otherwise keep until the next garbage collection.
 */
export function passingViewOf(kind: ResourceKind, stored: StoredObject): KubeObject {
  const object = parseStored(stored);
  return kind.storedAs ? kind.storedAs.fromStored(object) : object;
}

/** The object in its stored form, parsed for this one use; see `passingViewOf`. */
export function parseStored({ json }: StoredObject): KubeObject {
  const object: KubeObject = JSON.parse(json.toString());
  return object;
}

/** The answer of a dry run, in the form of a stored object. */
export function unstored(kind: ResourceKind, object: KubeObject): StoredObject {
  const form = storedForm(kind, object);
  return { key: "", revision: 0, object: form, json: Buffer.from(JSON.stringify(form)) };
}

/** The way back from `viewOf`: the object in the form in which it is stored. */
export function storedForm(kind: ResourceKind, object: KubeObject): KubeObject {
  return kind.storedAs ? kind.storedAs.toStored(object) : object;
}

/** The object with some of its metadata replaced. A value of undefined removes the field. */
export function withMetadata(
  object: KubeObject,
  changes: { readonly [Field in keyof KubeObject["metadata"]]?: KubeObject["metadata"][Field] | undefined },
): KubeObject {
  const entries = Object.entries({ ...object.metadata, ...changes }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(entries) };
}

/** The object with the status of `current`; without a status when `current` has none. */
export function withStatusOf(object: KubeObject, current: KubeObject): KubeObject {
  const { status: _ignored, ...rest } = object;
  return { ...rest, ...(current["status"] !== undefined && { status: current["status"] }), ...identityOf(object) };
}

/** The object `current` with the status and the metadata of `next`. */
export function withStatusAlone(next: KubeObject, current: KubeObject): KubeObject {
  const { status: _ignored, ...rest } = current;
  return {
    ...rest,
    ...identityOf(current),
    metadata: next.metadata,
    ...(next["status"] !== undefined && { status: next["status"] }),
  };
}

/** The object `next` with the metadata of `current`, except for the managed fields. */
export function withMetadataOf(next: KubeObject, current: KubeObject): KubeObject {
  return withMetadata({ ...next, metadata: current.metadata }, { managedFields: next.metadata.managedFields });
}

/**
 * True when the two differ in more than metadata, and also in more than the status where that is a subresource.
 * `metadata.generation` counts such changes.
 */
export function isSpecChanged(a: KubeObject, b: KubeObject, { hasStatus }: { hasStatus: boolean }): boolean {
  return !isDeepStrictEqual(specOf(a, hasStatus), specOf(b, hasStatus));
}

function specOf({ metadata: _metadata, status, ...rest }: KubeObject, hasStatus: boolean): Record<string, unknown> {
  return hasStatus ? rest : { ...rest, status };
}

const identityOf = ({ apiVersion, kind, metadata }: KubeObject) => ({ apiVersion, kind, metadata });

/** The kind's `apiVersion`: `v1`, `apps/v1`. */
export const apiVersion = (kind: ResourceKind) => apiVersionOf(kind);
