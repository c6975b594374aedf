import type { ObjectStore } from "../ports/object-store.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { keysOf } from "./keys.ts";
import type { KindTable } from "./kind-table.ts";

/** Reads the newest state, durable or not yet, on which decisions are made. */
export function createReader(store: ObjectStore, kinds: KindTable): ResourceReader {
  return {
    get({ resource, namespace, name }) {
      const kind = kinds.stored(resource);
      return kind && store.headOf(keysOf(kind).of(namespace, name))?.object;
    },
    list(resource, namespace) {
      const kind = kinds.stored(resource);
      return kind ? store.headList(keysOf(kind).prefix(namespace)).map(({ object }) => object) : [];
    },
  };
}
