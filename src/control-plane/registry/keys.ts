import type { ResourceKind } from "../ports/resource-kind.ts";

/** Where objects lie in the store: `<group or core>/<plural>/<namespace or nothing>/<name>`. */
interface Keys {
  /** Everything of the kind, or of one namespace. */
  prefix(namespace?: string): string;
  of(namespace: string, name: string): string;
}

/** The keys of a kind; of the kind that it is stored as, where it is a view of another. */
export function keysOf(kind: ResourceKind): Keys {
  const { group, plural } = kind.storedAs ?? kind;
  const root = `${group === "" ? "core" : group}/${plural}/`;
  return {
    prefix: (namespace = "") => (namespace === "" ? root : `${root}${namespace}/`),
    of: (namespace, name) => `${root}${namespace}/${name}`,
  };
}

/** The other way round: `pods`, `deployments.apps`. */
export function groupResourceOfKey(key: string): string {
  const [group = "", plural = ""] = key.split("/", 2);
  return group === "core" ? plural : `${plural}.${group}`;
}
