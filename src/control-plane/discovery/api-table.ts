import type { APIResource } from "../../api/gen/types.ts";
import { compareApiVersions, compareText } from "../../api/version-order.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";

/** Any JSON object; documents consist of them. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The source of the documents of this folder. A changed table is a new object: documents are kept for each object. */
export interface ApiTable {
  readonly kinds: readonly ResourceKind[];
  /**
   * The schemas of the custom kinds as their CRDs have them (`openAPIV3Schema`), by `ObjectSchema.definition`. A kind
   * that is neither here nor built in is any object.
   */
  readonly definitions: Readonly<Record<string, JsonObject>>;
  /** What the API servers of others answer for. A kind of such a group and version is hidden. Default: nothing. */
  readonly foreign?: readonly ForeignVersion[];
  /** Where clients reach the server, `127.0.0.1:6443`. */
  readonly serverAddress?: string;
}

export interface GroupVersion {
  /** `""` for core. */
  readonly group: string;
  readonly version: string;
}

/** How another API server describes its group and version in OpenAPI documents. */
export interface ForeignOpenApi {
  readonly v2?: ForeignSwagger;
  readonly v3?: JsonObject;
}

/** The parts of a Swagger document that become part of ours. */
interface ForeignSwagger {
  /** The operations by path and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  readonly definitions: Readonly<Record<string, JsonObject>>;
}

/** A group and version for which another API server answers. */
export interface ForeignVersion extends GroupVersion {
  /** Places the group among others: the greatest of its versions counts. Those of custom resources have 1000. */
  readonly groupPriority: number;
  /** Places the version in its group. Those of custom resources have 100. */
  readonly versionPriority: number;
  /** Undefined while that server does not answer. */
  readonly resources: readonly APIResource[] | undefined;
  /** What it said last. Default: nothing. */
  readonly openApi?: ForeignOpenApi | undefined;
}

/** The names by which clients know a kind. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** An API group with its versions, the preferred one first. */
export interface ApiGroup {
  readonly name: string;
  readonly versions: readonly string[];
}

/**
 * The built-in groups from the most important on, as kube-apiserver ranks them: clients look a bare resource name up in
 * this order, and print groups so.
 */
const GROUP_ORDER = [
  "",
  "apiregistration.k8s.io",
  "apps",
  "events.k8s.io",
  "authentication.k8s.io",
  "authorization.k8s.io",
  "autoscaling",
  "batch",
  "certificates.k8s.io",
  "networking.k8s.io",
  "policy",
  "rbac.authorization.k8s.io",
  "storage.k8s.io",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "scheduling.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "discovery.k8s.io",
  "resource.k8s.io",
];

const CUSTOM_GROUP_PRIORITY = 1000;
const CUSTOM_VERSION_PRIORITY = 100;

/**
 * All groups that have kinds, core included: the built-in ones in their order, then the others by the priority with
 * which they are registered and by name.
 */
export function listGroups({ kinds, foreign = [] }: Pick<ApiTable, "kinds" | "foreign">): ApiGroup[] {
  const versions = new Map<string, Map<string, number>>();
  const groupPriorities = new Map<string, number>();
  const add = ({ group, version }: GroupVersion, priority: number) => {
    versions.set(group, (versions.get(group) ?? new Map<string, number>()).set(version, priority));
  };
  for (const kind of kinds) add(kind, CUSTOM_VERSION_PRIORITY);
  for (const { groupPriority, versionPriority, ...at } of foreign) {
    add(at, versionPriority);
    groupPriorities.set(at.group, Math.max(groupPriority, groupPriorities.get(at.group) ?? 0));
  }
  const groups = [...versions].map(([name, found]) => {
    const sorted = [...found].sort(([a, first], [b, second]) => second - first || compareApiVersions(a, b));
    return { name, versions: sorted.map(([version]) => version) };
  });
  const priorityOf = ({ name }: ApiGroup) => groupPriorities.get(name) ?? CUSTOM_GROUP_PRIORITY;
  return groups.sort((a, b) => {
    return placeOf(a.name) - placeOf(b.name) || priorityOf(b) - priorityOf(a) || compareText(a.name, b.name);
  });
}

function placeOf(group: string): number {
  const place = GROUP_ORDER.indexOf(group);
  return place === -1 ? GROUP_ORDER.length : place;
}

/** Every group and version that has kinds. */
export function listGroupVersions(kinds: readonly ResourceKind[]): GroupVersion[] {
  return listGroups({ kinds }).flatMap(({ name, versions }) => versions.map((version) => ({ group: name, version })));
}

/** The kinds of a group and version, by plural. */
export function kindsOf(kinds: readonly ResourceKind[], { group, version }: GroupVersion): ResourceKind[] {
  const found = kinds.filter((kind) => kind.group === group && kind.version === version);
  return found.sort((a, b) => compareText(a.plural, b.plural));
}

/** `api/v1`, `apis/apps/v1`: the path of a group and version, without the first slash. */
export function groupPathOf({ group, version }: GroupVersion): string {
  return group === "" ? `api/${version}` : `apis/${group}/${version}`;
}

/** Subresources in the order of their names, as kube-apiserver lists them. */
export function sortByName<Named extends { readonly name: string }>(all: readonly Named[]): Named[] {
  return all.toSorted((a, b) => compareText(a.name, b.name));
}
