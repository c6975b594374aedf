import type { ResourceKind } from "../ports/resource-kind.ts";
import {
  type ApiGroup,
  type ApiTable,
  type GroupVersionKind,
  type JsonObject,
  kindsOf,
  listGroups,
  sortByName,
} from "./api-table.ts";
import { describeForeignVersion } from "./foreign-discovery.ts";

export type AggregatedVersion = "v2" | "v2beta1";

/**
 * All groups with all their resources in one document (`/api` for core, `/apis` for the others). Clients since 1.26 ask
 * for it, which saves a request for each group.
 */
export function describeAggregated(
  table: Pick<ApiTable, "kinds" | "foreign">,
  part: "core" | "groups",
  version: AggregatedVersion,
): JsonObject {
  const groups = listGroups(table).filter(({ name }) => (name === "") === (part === "core"));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => describeGroup(table, group)),
  };
}

function describeGroup(
  { kinds, foreign = [] }: Pick<ApiTable, "kinds" | "foreign">,
  { name, versions }: ApiGroup,
): JsonObject {
  return {
    metadata: name === "" ? {} : { name },
    versions: versions.map((version) => {
      const other = foreign.find((candidate) => candidate.group === name && candidate.version === version);
      if (other) return describeForeignVersion(other);
      const resources = kindsOf(kinds, { group: name, version }).map(describeResource);
      return { version, resources, freshness: "Current" };
    }),
  };
}

function describeResource(kind: ResourceKind): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames, categories, subresources } = kind;
  return {
    resource: plural,
    responseKind: responseKind(kind, kind),
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: verbs.toSorted(),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: sortByName(subresources).map((subresource) => ({
        subresource: subresource.name,
        responseKind: responseKind(kind, subresource),
        verbs: subresource.verbs.toSorted(),
      })),
    }),
  };
}

/** Built-in resources tell group and version only where they differ from those of the document, as upstream. */
function responseKind({ group, version, schema }: ResourceKind, answered: GroupVersionKind): JsonObject {
  const isOwn = schema.strategicMerge && answered.group === group && answered.version === version;
  return { group: isOwn ? "" : answered.group, version: isOwn ? "" : answered.version, kind: answered.kind };
}
