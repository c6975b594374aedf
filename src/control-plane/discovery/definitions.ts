import { compareText } from "../../api/version-order.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ApiTable, GroupVersionKind, JsonObject } from "./api-table.ts";
import { customDefinition, customListDefinition } from "./custom-definition.ts";
import { type Dialect, referencesOf } from "./openapi-dialect.ts";
import { isServedDefinition, servedDefinition } from "./served-definitions.ts";

/** The definitions that every operation may name, whatever the kind. */
export const META = {
  deleteOptions: "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
  patch: "io.k8s.apimachinery.pkg.apis.meta.v1.Patch",
  resources: "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList",
  status: "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
} as const;

/** The definition of lists of the kind. */
export function listDefinitionOf({ schema, listKind }: ResourceKind): string {
  return `${schema.definition.slice(0, schema.definition.lastIndexOf(".") + 1)}${listKind}`;
}

/** The definition of the object that a subresource takes and returns; undefined for plain text and streams. */
export function definitionOf(parent: ResourceKind, { group, version, kind }: GroupVersionKind): string | undefined {
  if (kind === parent.kind && group === parent.group && version === parent.version) return parent.schema.definition;
  const folder = group === "" ? "core" : group.split(".")[0];
  const definition = `io.k8s.api.${folder}.${version}.${kind}`;
  return isServedDefinition(definition) ? definition : undefined;
}

/** The schemas that the kinds need, with all that they refer to, by definition, in order of the name. */
export function collectDefinitions(
  dialect: Dialect,
  { kinds, definitions }: Pick<ApiTable, "kinds" | "definitions">,
): JsonObject {
  const names = nameKinds(kinds);
  const lists = new Map(kinds.map((kind) => [listDefinitionOf(kind), kind.schema.definition]));
  const found = new Map<string, JsonObject>();
  const waiting = [...names.keys(), ...Object.values(META)];
  for (let definition = waiting.pop(); definition !== undefined; definition = waiting.pop()) {
    if (found.has(definition)) continue;
    const { schema, references } = publish(dialect, definition, { item: lists.get(definition), definitions });
    found.set(definition, withNames(schema, names.get(definition)));
    waiting.push(...references);
  }
  return Object.fromEntries([...found].sort(([a], [b]) => compareText(a, b)));
}

/** A schema as clients see it, and the definitions that it names. */
interface Published {
  readonly schema: JsonObject;
  readonly references: readonly string[];
}

/** Schemas that were published before, by what they were made of: each change of a CRD asks for all of them again. */
const publishedBuiltIn = new Map<string, Published>();
const publishedCustom = { v2: new WeakMap<JsonObject, Published>(), v3: new WeakMap<JsonObject, Published>() };

function publish(
  dialect: Dialect,
  definition: string,
  { item, definitions }: { item: string | undefined; definitions: ApiTable["definitions"] },
): Published {
  const key = `${dialect.version} ${definition}`;
  const builtIn = publishedBuiltIn.get(key);
  if (builtIn) return builtIn;
  const served = servedDefinition(dialect, definition);
  if (served) {
    const published = withReferences(served);
    publishedBuiltIn.set(key, published);
    return published;
  }
  if (item !== undefined) return withReferences(customListDefinition(dialect, item));
  const source = definitions[definition];
  const known = source && publishedCustom[dialect.version].get(source);
  if (known) return known;
  const published = withReferences(customDefinition(dialect, source));
  if (source) publishedCustom[dialect.version].set(source, published);
  return published;
}

const withReferences = (schema: JsonObject): Published => ({ schema, references: referencesOf(schema) });

/** Schemas with their names, so that a schema whose names are the same is the same object. */
const named = new WeakMap<JsonObject, { readonly names: string; readonly schema: JsonObject }>();

/** The groups, versions and kinds of each definition, by which clients find the schema of an object. */
function nameKinds(kinds: readonly ResourceKind[]): ReadonlyMap<string, GroupVersionKind[]> {
  const names = new Map<string, GroupVersionKind[]>();
  const add = (definition: string | undefined, { group, version, kind }: GroupVersionKind) => {
    if (definition === undefined) return;
    const known = names.get(definition) ?? [];
    if (known.some((name) => name.group === group && name.version === version && name.kind === kind)) return;
    names.set(definition, [...known, { group, kind, version }]);
  };
  for (const row of kinds) {
    const { group, version } = row;
    add(row.schema.definition, row);
    if (row.verbs.includes("list")) add(listDefinitionOf(row), { group, version, kind: row.listKind });
    for (const subresource of row.subresources) add(definitionOf(row, subresource), subresource);
    add(META.deleteOptions, { group, version, kind: "DeleteOptions" });
  }
  add(META.status, { group: "", version: "v1", kind: "Status" });
  return names;
}

function withNames(schema: JsonObject, names: readonly GroupVersionKind[] | undefined): JsonObject {
  if (names === undefined) return schema;
  const known = named.get(schema);
  const text = JSON.stringify(names);
  if (known?.names === text) return known.schema;
  const made = { ...schema, "x-kubernetes-group-version-kind": names };
  named.set(schema, { names: text, schema: made });
  return made;
}
