import { isRecord, type KubeObject } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import { alwaysThere } from "./always-there.ts";
import { compareObjects } from "./compare.ts";
import { difference, EMPTY, type FieldSet, recursiveDifference, union } from "./field-set.ts";

/** The changes that a write makes to fields that can be owned. */
export interface Changes {
  /** Added or modified fields, which the writer now owns. */
  readonly taken: FieldSet;
  /** Removed fields, which have no owner any more. */
  readonly removed: FieldSet;
}

/** An object as one of its versions shows it. */
interface VersionView {
  readonly node: SchemaNode;
  /** Takes an object of any version. */
  show(object: KubeObject): KubeObject;
}

/** Finds the view of an API version; undefined for one that is not served any more. */
export type VersionViews = (apiVersion: string) => VersionView | undefined;

/** A write, in the version in which it was sent. */
interface VersionedWrite {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
  readonly apiVersion: string;
  /** Default: the fields of all versions are the same. */
  readonly versions?: VersionViews | undefined;
}

/**
 * The changes as owners of each version see them, given those in the version of the write. What an owner owned in a version
 * that is gone stays as it is.
 */
export function changesByVersion(write: VersionedWrite, own: Changes): (apiVersion: string) => Changes {
  const { before, after, versions } = write;
  const known = new Map([[write.apiVersion, own]]);
  return (apiVersion) => {
    if (versions === undefined) return own;
    const existing = known.get(apiVersion);
    if (existing) return existing;
    const view = versions(apiVersion);
    const seen = view && { before: before && view.show(before), after: view.show(after) };
    const changes = view && seen ? computeChanges(view.node, seen) : { taken: EMPTY, removed: EMPTY };
    known.set(apiVersion, changes);
    return changes;
  };
}

/** Computes the changes. Fields that the server resets, with everything below, do not count. */
export function computeChanges(
  node: SchemaNode,
  { before, after }: { before: KubeObject | undefined; after: KubeObject },
  resetFields: FieldSet = EMPTY,
): Changes {
  const comparison = compareObjects(node, before && withoutManagedFields(before), withoutManagedFields(after));
  const added = difference(comparison.added, alwaysThere(after));
  return {
    taken: recursiveDifference(union(added, comparison.modified), resetFields),
    removed: recursiveDifference(comparison.removed, resetFields),
  };
}

/** Returns the object as its owners see it. The list of owners is not owned itself. */
export function withoutManagedFields(object: KubeObject): KubeObject {
  if (!isRecord(object.metadata) || object.metadata.managedFields === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The object with these entries, or without any; the object itself if it has just these. */
export function withManagedFields(
  object: KubeObject,
  managedFields: KubeObject["metadata"]["managedFields"],
): KubeObject {
  if (object.metadata.managedFields === managedFields) return object;
  const rest = withoutManagedFields(object);
  return managedFields ? { ...rest, metadata: { ...rest.metadata, managedFields } } : rest;
}
