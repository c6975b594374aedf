import type { ResourceKind } from "../ports/resource-kind.ts";
import { type ApiGroup, type JsonObject, kindsOf, listGroups } from "./api-table.ts";

export type AggregatedVersion = "v2" | "v2beta1";

/**
 * All groups with all their resources in one document (`/api` for core, `/apis` for the others): what clients since
 * 1.26 ask for, to save a request for every group.
 */
export function describeAggregated(
  kinds: readonly ResourceKind[],
  part: "core" | "groups",
  version: AggregatedVersion,
): JsonObject {
  const groups = listGroups(kinds).filter(({ name }) => (name === "") === (part === "core"));
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map((group) => describeGroup(kinds, group)),
  };
}

function describeGroup(kinds: readonly ResourceKind[], { name, versions }: ApiGroup): JsonObject {
  return {
    metadata: { ...(name !== "" && { name }), creationTimestamp: null },
    versions: versions.map((version) => ({
      version,
      resources: kindsOf(kinds, { group: name, version }).map(describeResource),
      freshness: "Current",
    })),
  };
}

function describeResource(kind: ResourceKind): JsonObject {
  const { group, version, plural, singular, namespaced, verbs, shortNames, categories, subresources } = kind;
  return {
    resource: plural,
    responseKind: { group, version, kind: kind.kind },
    scope: namespaced ? "Namespaced" : "Cluster",
    singularResource: singular,
    verbs: verbs.toSorted(),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map((subresource) => ({
        subresource: subresource.name,
        responseKind: { group: subresource.group, version: subresource.version, kind: subresource.kind },
        verbs: subresource.verbs.toSorted(),
      })),
    }),
  };
}
