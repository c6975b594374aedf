import type { ResourceKind } from "../ports/resource-kind.ts";

/** The keys of a kind's objects in the store: `<group or core>/<plural>/<namespace or nothing>/<name>`. */
interface Keys {
  /** The prefix of all objects of the kind, or of those in one namespace. */
  prefix(namespace?: string): string;
  of(namespace: string, name: string): string;
}

/** The keys of a kind. A view of another kind has the keys of that kind. */
export function keysOf(kind: ResourceKind): Keys {
  const { group, plural } = kind.storedAs ?? kind;
  const root = `${group === "" ? "core" : group}/${plural}/`;
  return {
    prefix: (namespace = "") => (namespace === "" ? root : `${root}${namespace}/`),
    of: (namespace, name) => `${root}${namespace}/${name}`,
  };
}

/** The resource of a key: `pods`, `deployments.apps`. */
export function groupResourceOfKey(key: string): string {
  const [group = "", plural = ""] = key.split("/", 2);
  return group === "core" ? plural : `${plural}.${group}`;
}
