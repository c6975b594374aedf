import { groupResource, isView, type ResourceKind } from "../ports/resource-kind.ts";

/** The kinds that are served now: the built-in ones, and those that custom resource definitions add and take away. */
export interface KindTable {
  all(): readonly ResourceKind[];
  find(group: string, version: string, plural: string): ResourceKind | undefined;
  /** The version in which the objects of a group's resource are stored: `pods`, `deployments.apps`. */
  stored(resource: string): ResourceKind | undefined;
  /** Counts the changes of the table, for callers that cache what they made of it. */
  readonly version: number;
  /** Replaces what one definition contributes; an empty list takes it away. */
  define(definition: string, kinds: readonly ResourceKind[]): void;
}

/** A table of the built-in kinds. A built-in kind always wins over a custom kind of the same name. */
export function createKindTable(builtIn: readonly ResourceKind[]): KindTable {
  const custom = new Map<string, readonly ResourceKind[]>();
  let version = 0;
  let kinds = builtIn;
  let byPath = indexByPath(kinds);
  let byResource = indexByResource(kinds);

  return {
    all: () => kinds,
    find: (group, apiVersion, plural) => byPath.get(`${group}/${apiVersion}/${plural}`),
    stored: (resource) => byResource.get(resource),
    get version() {
      return version;
    },
    define(definition, added) {
      custom.set(definition, added);
      if (added.length === 0) custom.delete(definition);
      kinds = [...builtIn, ...[...custom.values()].flat()];
      byPath = indexByPath(kinds);
      byResource = indexByResource(kinds);
      version++;
    },
  };
}

function indexByPath(kinds: readonly ResourceKind[]): ReadonlyMap<string, ResourceKind> {
  return new Map(kinds.toReversed().map((kind) => [`${kind.group}/${kind.version}/${kind.plural}`, kind]));
}

/** Indexes the kinds that have objects of their own, which views of other kinds do not. */
function indexByResource(kinds: readonly ResourceKind[]): ReadonlyMap<string, ResourceKind> {
  const stored = kinds.filter((kind) => !isView(kind));
  return new Map(stored.toReversed().map((kind) => [groupResource(kind), kind]));
}

/** The resources of namespaced objects that can be deleted, for the emptying of a namespace. */
export function listNamespacedResources(kinds: Pick<KindTable, "all">): string[] {
  return kinds
    .all()
    .filter((kind) => kind.namespaced && !isView(kind) && kind.verbs.includes("delete"))
    .map(groupResource);
}

/** Where objects of the kind are stored, by its `apiVersion` and `kind`; undefined for a kind that is not served. */
export function resolveKind(
  kinds: Pick<KindTable, "all">,
  apiVersion: string,
  kind: string,
): { resource: string; namespaced: boolean } | undefined {
  const [first = "", second] = apiVersion.split("/");
  const { group, version } = second === undefined ? { group: "", version: first } : { group: first, version: second };
  const row = kinds.all().find((candidate) => {
    return candidate.group === group && candidate.version === version && candidate.kind === kind;
  });
  // The objects of a view lie with the kind that it is a view of.
  return row && { resource: groupResource(row.storedAs ?? row), namespaced: row.namespaced };
}

/** All kinds that show the objects of this one, in any version or group, itself included. */
export function viewsOf(kinds: Pick<KindTable, "all">, kind: ResourceKind): ResourceKind[] {
  const stored = groupResource(kind.storedAs ?? kind);
  return kinds.all().filter((row) => row.verbs.length > 0 && groupResource(row.storedAs ?? row) === stored);
}
