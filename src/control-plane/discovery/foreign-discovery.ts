import type { APIResource } from "../../api/gen/types.ts";
import { type ForeignVersion, type JsonObject, sortByName } from "./api-table.ts";

/** A version for which another API server answers, as the document of all groups has it. */
export function describeForeignVersion({ group, version, resources }: ForeignVersion): JsonObject {
  if (resources === undefined) return { version, resources: [], freshness: "Stale" };
  const own = resources.filter(({ name }) => !name.includes("/"));
  return { version, resources: own.map((resource) => describe(resource)), freshness: "Current" };

  function describe({ name, namespaced, singularName, verbs, shortNames = [], categories = [], ...as }: APIResource) {
    const below = resources?.filter((other) => other.name.startsWith(`${name}/`)) ?? [];
    return {
      resource: name,
      responseKind: kindOf(as),
      scope: namespaced ? "Namespaced" : "Cluster",
      singularResource: singularName,
      verbs: verbs.toSorted(),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
      ...(below.length > 0 && {
        subresources: sortByName(below).map((subresource) => ({
          subresource: subresource.name.slice(name.length + 1),
          responseKind: kindOf(subresource),
          verbs: subresource.verbs.toSorted(),
        })),
      }),
    };
  }

  function kindOf(resource: Pick<APIResource, "group" | "version" | "kind">) {
    return { group: resource.group || group, version: resource.version || version, kind: resource.kind };
  }
}
