import type { VersionViews } from "../../api/apply/changes.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { type KindTable, viewsOf } from "./kind-table.ts";

/**
 * How the versions of a kind show its objects to those who manage fields in them. Undefined for a kind whose versions have
 * the same fields.
 */
export function versionViews(kinds: Pick<KindTable, "find" | "all">, kind: ResourceKind): VersionViews | undefined {
  if (kind.storedAs?.conversion !== undefined) return convertedViews(kinds, kind);
  return kind.versionsDiffer ? builtInViews(kinds, kind) : undefined;
}

function convertedViews(kinds: Pick<KindTable, "find">, kind: ResourceKind): VersionViews {
  return (apiVersion) => {
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const row = kinds.find(kind.group, version, kind.plural);
    if (row?.storedAs === undefined || apiVersionOf(row) !== apiVersion) return undefined;
    return { node: row.schema.node, show: row.storedAs.fromStored };
  };
}

function builtInViews(kinds: Pick<KindTable, "all">, kind: ResourceKind): VersionViews {
  const rowOf = (apiVersion: string) => viewsOf(kinds, kind).find((row) => apiVersionOf(row) === apiVersion);
  return (apiVersion) => {
    const row = rowOf(apiVersion);
    if (row === undefined) return undefined;
    const show = (object: KubeObject) => {
      if (object.apiVersion === apiVersion) return object;
      const stored = rowOf(object.apiVersion)?.storedAs?.toStored(object) ?? object;
      return row.storedAs?.fromStored(stored) ?? stored;
    };
    return { node: row.schema.node, show };
  };
}
