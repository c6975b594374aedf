import type { KubeObject } from "../../api/object.ts";
import type { ResourceEvent } from "../ports/resources.ts";
import { namespacedKeyOf } from "./namespaced-key.ts";

/**
 * Finds the objects that have a value in common, and is kept up to date by the feed. Objects are known as
 * `namespace/name`.
 */
export interface ObjectIndex {
  apply(event: ResourceEvent): void;
  /** The keys of the objects with this value. */
  keysOf(value: string): readonly string[];
}

/** An index without objects. The function returns the values by which an object is found. */
export function createObjectIndex(valuesOf: (object: KubeObject) => readonly string[]): ObjectIndex {
  /** Lists without duplicates. A set for each object would be ten times as large as its content. */
  const valuesByKey = new Map<string, readonly string[]>();
  const keysByValue = new Map<string, Set<string>>();
  const forget = (key: string) => {
    for (const value of valuesByKey.get(key) ?? []) {
      const keys = keysByValue.get(value);
      keys?.delete(key);
      if (keys?.size === 0) keysByValue.delete(value);
    }
    valuesByKey.delete(key);
  };
  return {
    apply({ type, object }) {
      const key = namespacedKeyOf(object.metadata);
      forget(key);
      const values = type === "DELETED" ? [] : [...new Set(valuesOf(object))];
      if (values.length > 0) valuesByKey.set(key, values);
      for (const value of values) keysByValue.set(value, (keysByValue.get(value) ?? new Set()).add(key));
    },
    keysOf: (value) => [...(keysByValue.get(value) ?? [])],
  };
}
