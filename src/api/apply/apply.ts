import { ApiError, badRequestError } from "../api-error.ts";
import { isKubeObject, type KubeObject } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";
import {
  changesByVersion,
  computeChanges,
  type VersionViews,
  withManagedFields,
  withoutManagedFields,
} from "./changes.ts";
import { checkApplied } from "./check-applied.ts";
import { applyConflictError, type Conflict, findConflicts } from "./conflicts.ts";
import { claimedSet } from "./extract-set.ts";
import { EMPTY, type FieldSet, hasPath, recursiveDifference, sameSet } from "./field-set.ts";
import { sameJson } from "./json-value.ts";
import { clientAppliedSet, withLastApplied } from "./last-applied.ts";
import {
  decodeManagedFields,
  encodeManagedFields,
  entryTime,
  type Ownership,
  type Ownerships,
  ownerIdentifier,
} from "./managed-entries.ts";
import { reconcileOwnerships, releaseOwnership, takeOwnership } from "./managed-fields.ts";
import { mergeApplied } from "./merge.ts";
import { withoutNeverOwned } from "./never-owned.ts";
import { pruneInVersions } from "./prune-versions.ts";

/** A server-side apply. */
export interface Application {
  /** The stored object; undefined when the object is to be created. */
  readonly current: KubeObject | undefined;
  /**
   * The configuration as it was sent. It is neither defaulted nor completed, because everything that it mentions
   * becomes owned.
   */
  readonly applied: KubeObject;
  readonly node: SchemaNode;
  readonly manager: string;
  /** True to take over fields that others own. */
  readonly force: boolean;
  /** Ms since the epoch. */
  readonly now: number;
  /** Default "": the object itself. */
  readonly subresource?: string;
  /** The API version of the request. */
  readonly apiVersion: string;
  /** Fields that this endpoint does not write, with all below: they are neither owned nor in conflict. */
  readonly resetFields?: FieldSet;
  /** How other versions show the object, where their fields differ. Default: they do not. */
  readonly versions?: VersionViews | undefined;
}

/**
 * Lays the configuration over the object, removes what the manager applied before and no longer does (unless another
 * manager owns it), and records the owners of fields. The result is still to be defaulted and validated. Returns
 * `current` itself when nothing changes at all.
 *
 * Throws an ApiError: Conflict when others own what would change, BadRequest for a configuration of another version or
 * with managed fields, InternalError (as upstream) for one that does not fit the schema.
 */
export function applyObject(application: Application): KubeObject {
  checkConfiguration(application);
  const { current, manager, node, applied } = application;
  const owners = ownersBefore(application);
  const { conflicts, object } = mergeAndOwn(application, owners);
  if (manager !== KUBECTL) {
    if (conflicts.length > 0) throw applyConflictError(conflicts);
    return object;
  }
  if (conflicts.length === 0) return withLastApplied(object, applied);
  const clientApplied = (current && clientAppliedSet(node, current)) ?? EMPTY;
  const remaining = conflicts.filter(({ path }) => !hasPath(clientApplied, path));
  if (remaining.length > 0) throw applyConflictError(remaining);
  return withLastApplied(mergeAndOwn({ ...application, force: true }, owners).object, applied);
}

/** kubectl's manager in server-side apply unless it is told otherwise; it may have used client-side apply before. */
const KUBECTL = "kubectl";

function checkConfiguration({ current, applied, apiVersion, node }: Application): void {
  const { kind } = current ?? applied;
  if (applied.apiVersion !== apiVersion || applied.kind !== kind) {
    throw badRequestError(`invalid object type: ${formatKind(applied)}`);
  }
  if (Array.isArray(applied.metadata.managedFields)) throw badRequestError("metadata.managedFields must be nil");
  const problem = checkApplied(node, applied);
  if (problem === undefined) return;
  const { namespace = "", name = "" } = applied.metadata;
  const subject = `${namespace}/${name}; ${formatKind(applied)}`;
  throw new ApiError("InternalError", `failed to create typed patch object (${subject}): ${problem}`);
}

function formatKind({ apiVersion, kind }: KubeObject): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
}

/**
 * An object that was not tracked is tracked from now on: its fields belong to the manager `before-first-apply`, which
 * stands for every earlier writer.
 */
function ownersBefore(application: Application): Ownerships {
  const { current, node, apiVersion, subresource, now, resetFields } = application;
  const owners = decodeStored(current?.metadata.managedFields ?? []);
  if (owners.size > 0 || !current) return reconcileOwnerships(application, owners);
  const update = { before: undefined, after: current, node, manager: "before-first-apply", apiVersion, now };
  return takeOwnership({ ...update, ...(subresource && { subresource }), ...(resetFields && { resetFields }) }, owners);
}

function decodeStored(entries: NonNullable<KubeObject["metadata"]["managedFields"]>): Ownerships {
  try {
    return decodeManagedFields(entries);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ApiError("InternalError", `failed to decode managed fields: ${detail}`);
  }
}

interface Outcome {
  /** If there are any, the object must not be used. */
  readonly conflicts: readonly Conflict[];
  readonly object: KubeObject;
}

function mergeAndOwn(application: Application, owners: Ownerships): Outcome {
  const { current, applied, node, manager, apiVersion, subresource = "", resetFields = EMPTY } = application;
  const identity = { manager: manager || "unknown", operation: "Apply", apiVersion, subresource } as const;
  const identifier = ownerIdentifier(identity);
  const previous = owners.get(identifier);
  const rivals = new Map(owners);
  rivals.delete(identifier);
  const claimed = recursiveDifference(claimedSet(node, applied), resetFields);

  const before = current && withoutManagedFields(current);
  const merged = mergeApplied(node, before, applied);
  const { versions } = application;
  const claims = [{ apiVersion, set: claimed }, ...rivals.values()];
  const after = previous
    ? pruneInVersions(asObject(merged), { node, apiVersion, versions, last: previous, owners: claims, applied })
    : asObject(merged);
  const changes = computeChanges(node, { before, after }, resetFields);
  const changesIn = changesByVersion({ before, after, apiVersion, versions }, changes);
  const conflicts = application.force ? [] : findConflicts(rivals, (version) => changesIn(version).taken);

  const isSame = before !== undefined && sameJson(before, after);
  const time = isSame ? previous?.time : entryTime(application.now);
  const left = releaseOwnership(changesIn, rivals);
  const own = { ...identity, time, set: withoutNeverOwned(claimed) };
  if (own.set.size > 0) left.set(identifier, previous && sameOwnership(previous, own) ? previous : own);
  const entries = encodeManagedFields(left, current?.metadata.managedFields);
  return { conflicts, object: withManagedFields(isSame && current ? current : after, entries) };
}

function sameOwnership(a: Ownership, b: Ownership): boolean {
  return a.apiVersion === b.apiVersion && a.time === b.time && sameSet(a.set, b.set);
}

function asObject(value: unknown): KubeObject {
  if (isKubeObject(value)) return value;
  throw new TypeError("merging a configuration into an object did not give an object");
}
