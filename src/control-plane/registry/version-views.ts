import type { VersionViews } from "../../api/apply/changes.ts";
import { apiVersionOf } from "../../api/object.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { KindTable } from "./kind-table.ts";

/**
 * How the versions of a kind show its objects to those who manage fields in them. Undefined for a kind whose versions have
 * the same fields, because no webhook converts them.
 */
export function versionViews(kinds: Pick<KindTable, "find">, kind: ResourceKind): VersionViews | undefined {
  if (kind.storedAs?.conversion === undefined) return undefined;
  return (apiVersion) => {
    const version = apiVersion.slice(apiVersion.indexOf("/") + 1);
    const row = kinds.find(kind.group, version, kind.plural);
    if (row?.storedAs === undefined || apiVersionOf(row) !== apiVersion) return undefined;
    return { node: row.schema.node, show: row.storedAs.fromStored };
  };
}
