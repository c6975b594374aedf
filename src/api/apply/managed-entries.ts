import type { ManagedFieldsEntry } from "../gen/types.ts";
import type { FieldSet } from "./field-set.ts";
import { decodeFieldsV1, encodeFieldsV1 } from "./fields-v1.ts";

/** The fields that one manager owns by one operation: a decoded entry of `metadata.managedFields`. Never changed. */
export interface Ownership {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** RFC 3339, to the second. */
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** The ownerships by their identifiers. */
export type Ownerships = ReadonlyMap<string, Ownership>;

/**
 * Identifies a manager. A manager that applies has one identifier whichever version it applies; one that updates has
 * another for each version and subresource. The text sorts as upstream's does.
 */
export function ownerIdentifier({
  manager,
  operation,
  apiVersion,
  subresource,
}: Pick<Ownership, "manager" | "operation" | "apiVersion" | "subresource">): string {
  return JSON.stringify({
    manager: manager === "" ? undefined : manager,
    operation,
    apiVersion: operation === "Apply" ? undefined : apiVersion,
    subresource: subresource === "" ? undefined : subresource,
  });
}

/** Entries are objects that live as long as their version of the object, which may be read again and again. */
const ownershipOf = new WeakMap<ManagedFieldsEntry, Ownership>();
const entryOf = new WeakMap<Ownership, ManagedFieldsEntry>();

/** Throws, in upstream's words, when an entry is not valid. */
export function decodeManagedFields(entries: readonly ManagedFieldsEntry[]): Map<string, Ownership> {
  const ownerships = new Map<string, Ownership>();
  for (const [index, entry] of entries.entries()) {
    const ownership = ownershipOf.get(entry) ?? decodeEntry(entry, index);
    ownershipOf.set(entry, ownership);
    entryOf.set(ownership, entry);
    ownerships.set(ownerIdentifier(ownership), ownership);
  }
  return ownerships;
}

function decodeEntry(entry: ManagedFieldsEntry, index: number): Ownership {
  const { manager = "", operation, apiVersion = "", subresource = "", time, fieldsType = "", fieldsV1 = {} } = entry;
  if (operation !== "Apply" && operation !== "Update") throw new Error("operation must be `Apply` or `Update`");
  if (apiVersion === "") throw new Error("apiVersion must not be empty");
  if (fieldsType === "") throw new Error(`missing fieldsType in managed fields entry ${index}`);
  if (fieldsType !== "FieldsV1") {
    throw new Error(`invalid fieldsType "${fieldsType}" in managed fields entry ${index}`);
  }
  return { manager, operation, apiVersion, subresource, time, set: decodeFieldsV1(fieldsV1) };
}

/**
 * Encodes in upstream's order: appliers first, then by time, then by name. Undefined when there are none; the stored
 * list itself when it has just these entries.
 */
export function encodeManagedFields(
  ownerships: Ownerships,
  stored: ManagedFieldsEntry[] | undefined,
): ManagedFieldsEntry[] | undefined {
  if (ownerships.size === 0) return undefined;
  const entries = [...ownerships.values()].sort(compareOwnerships).map(encodeEntry);
  const isStored = stored?.length === entries.length && entries.every((entry, index) => entry === stored[index]);
  return isStored ? stored : entries;
}

function encodeEntry(ownership: Ownership): ManagedFieldsEntry {
  const known = entryOf.get(ownership);
  if (known) return known;
  const { manager, operation, apiVersion, subresource, time, set } = ownership;
  const entry: ManagedFieldsEntry = {
    ...(manager !== "" && { manager }),
    operation,
    apiVersion,
    ...(time !== undefined && { time }),
    fieldsType: "FieldsV1",
    fieldsV1: encodeFieldsV1(set),
    ...(subresource !== "" && { subresource }),
  };
  ownershipOf.set(entry, ownership);
  entryOf.set(ownership, entry);
  return entry;
}

function compareOwnerships(a: Ownership, b: Ownership): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareText(a.manager, b.manager) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  );
}

/** The entry's time in seconds since the epoch; 0 without one. */
export function secondsOf({ time }: Ownership): number {
  return time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0;
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A time in the form of entries: to the second. */
export function entryTime(now: number): string {
  return new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
}
