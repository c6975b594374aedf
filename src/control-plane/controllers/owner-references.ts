import type { OwnerReference } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { FOREGROUND_FINALIZER, isHeldBy } from "./owner-graph.ts";

/** What a kind is served as; undefined for one that nobody serves (its definition is not there, or no longer). */
export type ResolveKind = (apiVersion: string, kind: string) => { resource: string; namespaced: boolean } | undefined;

/** How an object stands to each of its owners. */
interface ClassifiedOwners {
  /** There, and staying as far as we know. */
  readonly solid: readonly OwnerReference[];
  /** Not there: gone, of another UID, or in another namespace. */
  readonly absent: readonly OwnerReference[];
  /** Deleted in the foreground: waits for its dependents. */
  readonly waiting: readonly OwnerReference[];
  /** Nobody can tell: of a kind that is not served, or of a namespaced one for a cluster-scoped object. */
  readonly unresolvable: readonly OwnerReference[];
}

/** Looks each owner up where the reference says that it is: by kind and name, in the dependent's namespace. */
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

/** The object with no reference that holds up an owner's deletion. */
export function withoutBlocking(object: KubeObject): KubeObject {
  const ownerReferences = (object.metadata.ownerReferences ?? []).map((reference) => {
    return reference.blockOwnerDeletion ? { ...reference, blockOwnerDeletion: false } : reference;
  });
  return { ...object, metadata: { ...object.metadata, ownerReferences } };
}

/** True when the owner's deletion in the foreground waits for the object. */
export function blocks({ metadata }: KubeObject, ownerUid: string): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid, blockOwnerDeletion }) => {
    return uid === ownerUid && blockOwnerDeletion === true;
  });
}
