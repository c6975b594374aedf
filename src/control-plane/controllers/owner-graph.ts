import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from "../../api/finalizers.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ObjectName, ResourceEvent } from "../ports/resources.ts";

/**
 * The dependencies between objects and their owners, kept up to date by the feed. A change costs as much as it changes,
 * and no scan is ever needed. Objects are known by key (`resourceKeyOf`) and owners by UID, because a reference means
 * one particular object and not the next one of that name.
 */
export interface OwnerGraph {
  /** Takes in a change. Returns the keys of the objects about which a decision is due now. */
  apply(resource: string, event: ResourceEvent): string[];
  /** Keys of the objects that refer to the owner. */
  dependentsOf(ownerUid: string): readonly string[];
  /**
   * The namespace of the object with this UID, "" for a cluster-scoped object; undefined for an object that does not
   * exist.
   */
  namespaceOf(uid: string): string | undefined;
  /** The number of objects that have owners or whose deletion waits. */
  readonly size: number;
}

/** The key of an object, `deployments.apps/default/web`. No part of it can contain a slash. */
export function resourceKeyOf({ resource, namespace, name }: ObjectName): string {
  return `${resource}/${namespace}/${name}`;
}

/** The way back from `resourceKeyOf`. */
export function splitResourceKey(key: string): ObjectName {
  const [resource = "", namespace = "", name = ""] = key.split("/");
  return { resource, namespace, name };
}

/** True for an object that is marked as deleted and held by the finalizer. */
export function isHeldBy(finalizer: string, { metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

export function createOwnerGraph(): OwnerGraph {
  /** The namespace of every object by UID, because owners are looked up by UID. */
  const namespaces = new Map<string, string>();
  const ownersOf = new Map<string, readonly string[]>();
  const dependents = new Map<string, Set<string>>();
  /** The keys of objects that are deleted in the foreground, by UID. */
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
      // The dependents learn of the deletion once. They are deleted then, and each one that is gone leads to another
      // look at the owner.
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
