import { createHash } from "node:crypto";
import { apiVersionOf } from "../../api/object.ts";
import type { ResourceKind, Subresource } from "../ports/resource-kind.ts";
import {
  type ApiGroup,
  type ApiTable,
  type GroupVersion,
  type JsonObject,
  kindsOf,
  listGroups,
  sortByName,
} from "./api-table.ts";

/** `/api`: the versions of the core group, and the address of the server. */
export function describeApiVersions(serverAddress = ""): JsonObject {
  const servers = [{ clientCIDR: "0.0.0.0/0", serverAddress }];
  return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: servers };
}

/** `/apis`: every group but core. */
export function describeApiGroups(table: Pick<ApiTable, "kinds" | "foreign">): JsonObject {
  const groups = listGroups(table).filter(({ name }) => name !== "");
  return { kind: "APIGroupList", apiVersion: "v1", groups: groups.map(describeGroup) };
}

/** `/apis/<group>`; undefined for a group without kinds. */
export function describeApiGroup(table: Pick<ApiTable, "kinds" | "foreign">, name: string): JsonObject | undefined {
  const group = listGroups(table).find((candidate) => candidate.name === name);
  return group && { kind: "APIGroup", apiVersion: "v1", ...describeGroup(group) };
}

function describeGroup({ name, versions }: ApiGroup) {
  const described = versions.map((version) => ({ groupVersion: apiVersionOf({ group: name, version }), version }));
  return { name, versions: described, preferredVersion: described[0] };
}

/** `/api/v1`, `/apis/<group>/<version>`: the resources and their subresources; undefined where there are none. */
export function describeResources(kinds: readonly ResourceKind[], at: GroupVersion): JsonObject | undefined {
  const found = kindsOf(kinds, at);
  if (found.length === 0) return undefined;
  const resources = found.flatMap((kind) => [
    describeResource(kind),
    ...sortByName(kind.subresources).map(subresourceOf(kind)),
  ]);
  // The document of the core group never had an apiVersion of its own.
  const apiVersion = at.group === "" ? {} : { apiVersion: "v1" };
  return { kind: "APIResourceList", ...apiVersion, groupVersion: apiVersionOf(at), resources };
}

function describeResource(kind: ResourceKind): JsonObject {
  const { plural, singular, namespaced, verbs, shortNames, categories } = kind;
  const isStored = verbs.includes("get");
  return {
    name: plural,
    singularName: singular,
    namespaced,
    kind: kind.kind,
    verbs: verbs.toSorted(),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(isStored && { storageVersionHash: hashStorageVersion(kind) }),
  };
}

function subresourceOf(parent: ResourceKind): (subresource: Subresource) => JsonObject {
  return ({ name, group, version, kind, verbs }) => ({
    name: `${parent.plural}/${name}`,
    singularName: "",
    namespaced: parent.namespaced,
    ...((group !== parent.group || version !== parent.version) && { group, version }),
    kind,
    verbs: verbs.toSorted(),
  });
}

/** Eight bytes of a digest of the storage version, as upstream computes it, by which clients see it change. */
function hashStorageVersion({ group, version, kind }: ResourceKind): string {
  return createHash("sha256").update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString("base64");
}
