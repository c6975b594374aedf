import type { KubeObject } from "../../../api/object.ts";
import { namespacedKeyOf } from "../../control-loop/namespaced-key.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader } from "../../ports/resources.ts";
import { controllerRefOf } from "./controller-ref.ts";

interface DependentsRequest {
  /** The resource of the dependents: `pods`. */
  readonly resource: string;
  /** The kind of the owners, as references name it: `ReplicaSet`. */
  readonly ownerKind: string;
  /** The resource of the owners: `replicasets.apps`. */
  readonly ownerResource: string;
  /** True when the owner selects the object. */
  readonly selects: (owner: KubeObject, object: KubeObject) => boolean;
}

/**
 * Tells which owners have to look at a changed dependent, as `namespace/name`: the one that controls it, the one that
 * did before the change, and for an object that nobody controls every owner that selects it and could adopt it. The
 * owner of that name may be another than the one that is referred to, or not exist. Returns how to stop.
 */
export function followDependents(
  { feed, reader }: { feed: ResourceFeed; reader: ResourceReader },
  { resource, ownerKind, ownerResource, selects }: DependentsRequest,
  wake: (ownerKey: string, event: ResourceEvent) => void,
): () => void {
  const ownerKeyOf = (object: KubeObject): string | undefined => {
    const reference = controllerRefOf(object);
    if (reference?.kind !== ownerKind) return undefined;
    return namespacedKeyOf({ namespace: object.metadata.namespace ?? "", name: reference.name });
  };
  const adopterKeysOf = (object: KubeObject): string[] => {
    const owners = reader.list(ownerResource, object.metadata.namespace ?? "");
    return owners.filter((owner) => selects(owner, object)).map(({ metadata }) => namespacedKeyOf(metadata));
  };
  return feed.follow(resource, (event) => {
    const { type, object, previous } = event;
    const keys = new Set<string>();
    for (const version of [object, ...(previous === undefined ? [] : [previous])]) {
      const key = ownerKeyOf(version);
      if (key !== undefined) keys.add(key);
    }
    if (type !== "DELETED" && controllerRefOf(object) === undefined && isNewOrphan(event)) {
      for (const key of adopterKeysOf(object)) keys.add(key);
    }
    for (const key of keys) wake(key, event);
  });
}

/** True when an object that nobody controls may be of interest to another owner than before the change. */
function isNewOrphan({ object, previous }: ResourceEvent): boolean {
  if (previous === undefined || controllerRefOf(previous) !== undefined) return true;
  return JSON.stringify(object.metadata.labels) !== JSON.stringify(previous.metadata.labels);
}
