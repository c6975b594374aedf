import type { ManagedFieldsEntry } from "../gen/types.ts";
import type { KubeObject } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import { capUpdaters } from "./cap-updaters.ts";
import { type Changes, changesByVersion, computeChanges, type VersionViews, withManagedFields } from "./changes.ts";
import { difference, EMPTY, type FieldSet, union } from "./field-set.ts";
import {
  decodeManagedFields,
  encodeManagedFields,
  entryTime,
  type Ownership,
  type Ownerships,
  ownerIdentifier,
} from "./managed-entries.ts";
import { withoutNeverOwned } from "./never-owned.ts";
import { reconcileSet } from "./reconcile-set.ts";

/** A write other than server-side apply. */
interface UpdateRecord {
  /** The stored object; undefined for a creation. */
  readonly before: KubeObject | undefined;
  /** The object to store: defaulted, and before the changes of admission, which no manager owns. */
  readonly after: KubeObject;
  readonly node: SchemaNode;
  /** The `fieldManager` of the request, else its user agent up to the first slash. */
  readonly manager: string;
  /** The API version of the request. */
  readonly apiVersion: string;
  /** Default "": the object itself. Through a subresource `managedFields` cannot be written. */
  readonly subresource?: string;
  /** Ms since the epoch. */
  readonly now: number;
  /** Fields that this endpoint does not write, with all below (`fieldSetOf(["status"])`): no manager comes to own them. */
  readonly resetFields?: FieldSet;
  /** How other versions show the object, where their fields differ. Default: they do not. */
  readonly versions?: VersionViews | undefined;
}

/**
 * Returns `after` with its `metadata.managedFields` brought up to date. The manager becomes the only owner of what it
 * changed, and removed fields have no owner. A write that changes nothing leaves the entries as they are, times
 * included.
 *
 * The writer may change the entries too: an empty list (or one empty entry) gives up tracking. No list, or one that
 * cannot be read, keeps what is stored. An object that is not tracked stays untracked until it is applied.
 */
export function recordUpdate(update: UpdateRecord): KubeObject {
  const { before, after } = update;
  const managed = ownershipsBefore(update);
  if (managed.size === 0 && before !== undefined) return withManagedFields(after, undefined);
  const entries = encodeManagedFields(takeOwnership(update, managed), before?.metadata.managedFields);
  return withManagedFields(after, entries);
}

function ownershipsBefore({ before, after, subresource = "" }: UpdateRecord): Ownerships {
  const stored = before?.metadata.managedFields ?? [];
  const sent = subresource === "" ? after.metadata.managedFields : undefined;
  if (sent === undefined) return readOwnerships(stored) ?? new Map();
  if (isReset(sent)) return new Map();
  return readOwnerships(sent) ?? readOwnerships(stored) ?? new Map();
}

function readOwnerships(entries: readonly ManagedFieldsEntry[]): Ownerships | undefined {
  try {
    return decodeManagedFields(entries);
  } catch {
    return undefined;
  }
}

function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  if (entries.length !== 1) return entries.length === 0;
  return Object.values(entries[0] ?? {}).every((value) => value === undefined || value === null || value === "");
}

/** The owners of all fields after the update. */
export function takeOwnership(update: UpdateRecord, before: Ownerships): Ownerships {
  const { node, apiVersion, subresource = "", now } = update;
  const identity = { manager: update.manager || "unknown", operation: "Update", apiVersion, subresource } as const;
  const identifier = ownerIdentifier(identity);
  const changes = computeChanges(node, update, update.resetFields);
  const owners = reconcileOwnerships(update, before);
  const managed = releaseOwnership(changesByVersion(update, changes), owners);
  const taken = withoutNeverOwned(changes.taken);
  if (taken.size > 0) {
    const previous = owners.get(identifier)?.set ?? EMPTY;
    const set = union(difference(previous, changes.removed), taken);
    managed.set(identifier, { ...identity, set, time: entryTime(now) });
  }
  capUpdaters(managed);
  return managed;
}

/** Removes taken and removed fields from their owners. An owner without any field left is left out. */
export function releaseOwnership(
  changesIn: (apiVersion: string) => Changes,
  owners: Ownerships,
): Map<string, Ownership> {
  const released = new Map<string, Ownership>();
  for (const [identifier, ownership] of owners) {
    const { taken, removed } = changesIn(ownership.apiVersion);
    const set = difference(difference(ownership.set, taken), removed);
    if (set.size > 0) released.set(identifier, set === ownership.set ? ownership : { ...ownership, set });
  }
  return released;
}

/** Reconciles all owners' sets with today's schema. */
export function reconcileOwnerships(
  { node, apiVersion, versions }: Pick<UpdateRecord, "node" | "apiVersion" | "versions">,
  owners: Ownerships,
): Ownerships {
  const reconciled = new Map<string, Ownership>();
  for (const [identifier, ownership] of owners) {
    const isOwn = versions === undefined || ownership.apiVersion === apiVersion;
    const own = isOwn ? node : versions(ownership.apiVersion)?.node;
    const set = own ? reconcileSet(own, ownership.set) : ownership.set;
    reconciled.set(identifier, set === ownership.set ? ownership : { ...ownership, set });
  }
  return reconciled;
}
