import type { KubeObject } from "../../../api/object.ts";
import type { ResourceEvent, ResourceFeed, ResourceReader } from "../../ports/resources.ts";

/** Objects in a map, for tests. An object that is put is there at once, and all followers are told. */
export interface FakeCluster {
  readonly reader: ResourceReader;
  readonly feed: ResourceFeed;
  put(resource: string, object: KubeObject): KubeObject;
  remove(resource: string, name: string, namespace?: string): void;
  /** The number of followers. */
  readonly followers: number;
}

export function createFakeCluster(): FakeCluster {
  const objects = new Map<string, Map<string, KubeObject>>();
  const listeners = new Map<string, Set<(event: ResourceEvent) => void>>();
  const of = (resource: string) => {
    const found = objects.get(resource) ?? new Map<string, KubeObject>();
    objects.set(resource, found);
    return found;
  };
  const tell = (resource: string, event: ResourceEvent) => {
    for (const listener of listeners.get(resource) ?? []) listener(event);
  };
  const keyOf = ({ namespace = "", name = "" }: { namespace?: string; name?: string }) => `${namespace}/${name}`;
  return {
    reader: {
      get: ({ resource, namespace, name }) => of(resource).get(`${namespace}/${name}`),
      list: (resource, namespace) =>
        [...of(resource).values()].filter(
          ({ metadata }) => namespace === undefined || metadata.namespace === namespace,
        ),
    },
    feed: {
      follow(resource, listener) {
        for (const object of of(resource).values()) listener({ type: "ADDED", object, previous: undefined });
        const known = listeners.get(resource) ?? new Set();
        listeners.set(resource, known.add(listener));
        return () => known.delete(listener);
      },
      followAll: () => {
        throw new Error("not needed here");
      },
    },
    put(resource, object) {
      const key = keyOf(object.metadata);
      const previous = of(resource).get(key);
      of(resource).set(key, object);
      tell(resource, { type: previous ? "MODIFIED" : "ADDED", object, previous });
      return object;
    },
    remove(resource, name, namespace = "") {
      const object = of(resource).get(`${namespace}/${name}`);
      if (object === undefined) throw new Error(`no ${resource} ${namespace}/${name}`);
      of(resource).delete(`${namespace}/${name}`);
      tell(resource, { type: "DELETED", object, previous: object });
    },
    get followers() {
      return [...listeners.values()].reduce((sum, set) => sum + set.size, 0);
    },
  };
}
