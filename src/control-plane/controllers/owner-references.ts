import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { OwnerReference } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { isHeldBy } from "./owner-graph.ts";

/**
 * The resource under which a kind is served; undefined for a kind that is not served (because its definition does not
 * exist).
 */
export type ResolveKind = (apiVersion: string, kind: string) => { resource: string; namespaced: boolean } | undefined;

/** What an owner is to its dependent. */
export type OwnerStanding = keyof ClassifiedOwners;

/** The owners of an object, by their state. */
export interface ClassifiedOwners {
  /** Owners that exist and are not being deleted in the foreground. */
  readonly solid: readonly OwnerReference[];
  /** Owners that do not exist: the object is gone, has another UID, or is in another namespace. */
  readonly absent: readonly OwnerReference[];
  /** Owners that are deleted in the foreground and wait for their dependents. */
  readonly waiting: readonly OwnerReference[];
  /**
   * Owners that cannot be looked up: their kind is not served, or it is namespaced and the dependent is cluster-scoped.
   */
  readonly unresolvable: readonly OwnerReference[];
}

/** Looks up each owner by kind and name in the dependent's namespace. */
export function classifyOwners(
  { metadata }: KubeObject,
  { reader, resolveKind }: { reader: ResourceReader; resolveKind: ResolveKind },
): ClassifiedOwners {
  const { ownerReferences = [], namespace = "" } = metadata;
  const standingOf = (reference: OwnerReference): keyof ClassifiedOwners => {
    const kind = resolveKind(reference.apiVersion, reference.kind);
    if (kind === undefined || (kind.namespaced && namespace === "")) return "unresolvable";
    const place = kind.namespaced ? namespace : "";
    const owner = reader.get({ resource: kind.resource, namespace: place, name: reference.name });
    if (owner === undefined || owner.metadata.uid !== reference.uid) return "absent";
    return isHeldBy(FOREGROUND_FINALIZER, owner) ? "waiting" : "solid";
  };
  const standings = ownerReferences.map((reference) => ({ reference, standing: standingOf(reference) }));
  const those = (wanted: keyof ClassifiedOwners) =>
    standings.filter(({ standing }) => standing === wanted).map(({ reference }) => reference);
  return {
    solid: those("solid"),
    absent: those("absent"),
    waiting: those("waiting"),
    unresolvable: those("unresolvable"),
  };
}

/** The object without its references to the owners. */
export function withoutOwners(object: KubeObject, uids: readonly string[]): KubeObject {
  const { ownerReferences = [], ...metadata } = object.metadata;
  const kept = ownerReferences.filter(({ uid }) => !uids.includes(uid));
  return { ...object, metadata: { ...metadata, ...(kept.length > 0 && { ownerReferences: kept }) } };
}

/** The object without the finalizer. */
export function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const finalizers = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

/** The object without `blockOwnerDeletion` in its references. */
export function withoutBlocking(object: KubeObject): KubeObject {
  const ownerReferences = (object.metadata.ownerReferences ?? []).map((reference) => {
    return reference.blockOwnerDeletion ? { ...reference, blockOwnerDeletion: false } : reference;
  });
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/**
 * True when the owner's deletion in the foreground waits for the object. The reference must be one to this owner in all
 * it says: whoever knows a UID could hold up what is in another namespace by a reference that is resolved to nothing.
 */
export function blocks({ metadata }: KubeObject, owner: KubeObject): boolean {
  const { uid, name, namespace = "" } = owner.metadata;
  if (namespace !== "" && namespace !== metadata.namespace) return false;
  return (metadata.ownerReferences ?? []).some((reference) => {
    const isThis = reference.uid === uid && reference.name === name && reference.kind === owner.kind;
    return (
      isThis && groupOf(reference.apiVersion) === groupOf(owner.apiVersion) && reference.blockOwnerDeletion === true
    );
  });
}

/** The group of `apps/v1`; "" for `v1`. */
const groupOf = (apiVersion: string) => (apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "");

/** What becomes of the dependents of what is deleted. */
export type Policy = "Background" | "Foreground" | "Orphan";

/** The propagation policy that the object's finalizers ask for. */
export function policyOf({ metadata: { finalizers = [] } }: KubeObject): Policy {
  if (finalizers.includes(ORPHAN_FINALIZER)) return "Orphan";
  return finalizers.includes(FOREGROUND_FINALIZER) ? "Foreground" : "Background";
}
