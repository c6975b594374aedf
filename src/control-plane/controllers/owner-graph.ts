import type { KubeObject } from "../../api/object.ts";
import type { ObjectName, ResourceEvent } from "../ports/resources.ts";

/** Holds an object that is deleted until its dependents that block it are gone. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";
/** Holds an object that is deleted until its dependents have forgotten it. */
export const ORPHAN_FINALIZER = "orphan";

/**
 * Who depends on whom, kept by the feed: a change costs what it changes, and nothing is ever scanned. Objects are known
 * by key (`resourceKeyOf`), owners by UID, because a reference means one very object and not the next of the same name.
 */
export interface OwnerGraph {
  /** Takes in a change; returns the keys of the objects about which something is to be decided now. */
  apply(resource: string, event: ResourceEvent): string[];
  /** Keys of the objects that refer to the owner. */
  dependentsOf(ownerUid: string): readonly string[];
  /** Where the object with this UID lives, "" for a cluster-scoped one; undefined for one that is not there. */
  namespaceOf(uid: string): string | undefined;
  /** Objects that have owners or are waited for by their deletion. */
  readonly size: number;
}

/** `deployments.apps/default/web`: no part of it can contain a slash. */
export function resourceKeyOf({ resource, namespace, name }: ObjectName): string {
  return `${resource}/${namespace}/${name}`;
}

/** The way back from `resourceKeyOf`. */
export function splitResourceKey(key: string): ObjectName {
  const [resource = "", namespace = "", name = ""] = key.split("/");
  return { resource, namespace, name };
}

/** Marked as deleted and held by the finalizer. */
export function isHeldBy(finalizer: string, { metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

/** An empty graph. */
export function createOwnerGraph(): OwnerGraph {
  /** Of every object that is there: owners are asked about by UID. */
  const namespaces = new Map<string, string>();
  const ownersOf = new Map<string, readonly string[]>();
  const dependents = new Map<string, Set<string>>();
  /** Deleted in the foreground: UID to key. */
  const waiting = new Map<string, string>();

  const setOwners = (key: string, next: readonly string[]): boolean => {
    const before = ownersOf.get(key) ?? [];
    for (const owner of before) {
      const known = dependents.get(owner);
      known?.delete(key);
      if (known?.size === 0) dependents.delete(owner);
    }
    for (const owner of next) dependents.set(owner, (dependents.get(owner) ?? new Set()).add(key));
    if (next.length > 0) ownersOf.set(key, next);
    else ownersOf.delete(key);
    return before.join() !== next.join();
  };
  const waitingAmong = (owners: readonly string[]) => owners.flatMap((owner) => waiting.get(owner) ?? []);

  const remove = (key: string, uid: string): string[] => {
    const owners = ownersOf.get(key) ?? [];
    setOwners(key, []);
    namespaces.delete(uid);
    waiting.delete(uid);
    return [...(dependents.get(uid) ?? []), ...waitingAmong(owners)];
  };
  const put = (key: string, object: KubeObject): string[] => {
    const { uid = "", namespace = "", ownerReferences = [] } = object.metadata;
    const before = ownersOf.get(key) ?? [];
    const owners = ownerReferences.map((reference) => reference.uid);
    const isNew = !namespaces.has(uid);
    namespaces.set(uid, namespace);
    const haveChanged = setOwners(key, owners);
    const due = waitingAmong([...before, ...owners]);
    if (owners.length > 0 && (isNew || haveChanged)) due.push(key);
    if (isHeldBy(FOREGROUND_FINALIZER, object)) {
      // The dependents learn of it once: from then on they go, and each that is gone asks again.
      if (!waiting.has(uid)) due.push(...(dependents.get(uid) ?? []), key);
      waiting.set(uid, key);
    } else waiting.delete(uid);
    if (isHeldBy(ORPHAN_FINALIZER, object)) due.push(key);
    return due;
  };

  return {
    apply(resource, { type, object }) {
      const { namespace = "", name = "", uid = "" } = object.metadata;
      const key = resourceKeyOf({ resource, namespace, name });
      return type === "DELETED" ? remove(key, uid) : put(key, object);
    },
    dependentsOf: (ownerUid) => [...(dependents.get(ownerUid) ?? [])],
    namespaceOf: (uid) => namespaces.get(uid),
    get size() {
      return ownersOf.size + waiting.size;
    },
  };
}
