import { isDeepStrictEqual } from "node:util";
import { internalError } from "../../api/api-error.ts";
import type { Decoded } from "../../api/decode.ts";
import { formatFieldError } from "../../api/field-error.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from "../../api/gen/types.ts";
import { isKubeObject, isRecord, type KubeObject } from "../../api/object.ts";
import type { ResourceKind, StoredAs, Strategy, Subresource, Verb } from "../ports/resource-kind.ts";
import { compileRules } from "./compile-rules.ts";
import type { ConvertedObjects } from "./converted-objects.ts";
import { isEstablished } from "./crd-status.ts";
import { customColumns } from "./custom-columns.ts";
import { customNode } from "./custom-node.ts";
import { deprecationOf, finalizerWarnings } from "./custom-warnings.ts";
import { applyDefaults } from "./default-value.ts";
import { evaluateRules } from "./evaluate-rules.ts";
import { pruneUnspecified } from "./prune.ts";
import { scalePathsOf, selectableField } from "./scale.ts";
import type { Schema } from "./schema-props.ts";
import { createCustomValidation } from "./validate-custom.ts";

const ALL_VERBS: readonly Verb[] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/** The verbs of a CRD that waits for its objects to go: it takes no new ones. */
const VERBS_WHILE_TERMINATING = ALL_VERBS.filter((verb) => verb !== "create");

/**
 * The rows that a CRD adds to the table of kinds: one for each served version, and nothing before its names have been
 * accepted. The storage version is the row that is no view; when it is not served its row has no verbs. `converted` are
 * the objects in other versions where a webhook converts.
 */
export function customKinds(crd: CustomResourceDefinition, converted?: ConvertedObjects): readonly ResourceKind[] {
  if (!isEstablished(crd)) return [];
  const storage = crd.spec.versions.find((version) => version.storage);
  return crd.spec.versions
    .filter((version) => version.served || version === storage)
    .map((version) => {
      const shown = customKind(crd, version);
      if (converted)
        return { ...shown, storedAs: convertedAs(crd, { shown, version, storage: storage ?? version }, converted) };
      return version === storage ? shown : { ...shown, storedAs: storedAs(crd, version, storage ?? version) };
    });
}

/** True for a definition whose versions a webhook converts into each other. */
export function hasWebhook({ spec }: CustomResourceDefinition): boolean {
  return spec.conversion?.strategy === "Webhook";
}

/** The schema of each version as OpenAPI documents show it, by the definition's name. */
export function customSchemas(crd: CustomResourceDefinition): Readonly<Record<string, Schema>> {
  const schemas = crd.spec.versions.map((version) => [definitionName(crd, version.name), schemaOf(version)]);
  return Object.fromEntries(schemas);
}

/** `com.example.stable.v1.CronTab`, as upstream names it: the group backwards. */
function definitionName({ spec }: CustomResourceDefinition, version: string): string {
  return [...spec.group.split(".").toReversed(), version, spec.names.kind].join(".");
}

const schemaOf = ({ schema }: CustomResourceDefinitionVersion): Schema => schema?.openAPIV3Schema ?? { type: "object" };

function customKind(crd: CustomResourceDefinition, version: CustomResourceDefinitionVersion): ResourceKind {
  const { group, scope } = crd.spec;
  const names = crd.status?.acceptedNames ?? crd.spec.names;
  const schema = schemaOf(version);
  return {
    group,
    version: version.name,
    kind: names.kind,
    listKind: names.listKind ?? `${names.kind}List`,
    plural: names.plural,
    singular: names.singular ?? names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === "Namespaced",
    verbs: version.served ? verbsOf(crd) : [],
    schema: {
      decode: (value) => decodeCustom(schema, value),
      node: customNode(schema),
      strategicMerge: false,
      definition: definitionName(crd, version.name),
    },
    strategy: customStrategy(crd, version),
    subresources: version.served ? subresourcesOf(crd, version) : [],
    columns: customColumns(version.additionalPrinterColumns),
  };
}

function verbsOf({ metadata }: CustomResourceDefinition): readonly Verb[] {
  return metadata?.deletionTimestamp === undefined ? ALL_VERBS : VERBS_WHILE_TERMINATING;
}

function decodeCustom(schema: Schema, value: unknown): Decoded<unknown> {
  if (!isRecord(value)) return { value: undefined, errors: [{ path: "", message: "expected object" }], warnings: [] };
  for (const name of ["apiVersion", "kind"]) {
    if (typeof value[name] === "string") continue;
    return { value: undefined, errors: [{ path: name, message: "expected string" }], warnings: [] };
  }
  return pruneUnspecified(schema, { ...value, metadata: value["metadata"] ?? {} });
}

function subresourcesOf(
  { spec: { group, names } }: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
): Subresource[] {
  const { name, subresources = {} } = version;
  const verbs: readonly Verb[] = ["get", "patch", "update"];
  const scale: Subresource[] = subresources.scale
    ? [
        {
          name: "scale",
          group: "autoscaling",
          version: "v1",
          kind: "Scale",
          verbs,
          scale: scalePathsOf(subresources.scale),
        },
      ]
    : [];
  const { validateStatus } = customValidation(version);
  const status: Subresource = {
    name: "status",
    group,
    version: name,
    kind: names.kind,
    verbs,
    validateUpdate: validateStatus,
  };
  return [...scale, ...(subresources.status ? [status] : [])];
}

function customStrategy(crd: CustomResourceDefinition, version: CustomResourceDefinitionVersion): Strategy {
  const schema = schemaOf(version);
  const { subresources = {}, selectableFields = [] } = version;
  const deprecation = deprecationOf(crd, version);
  const rules = compileRules(schema);
  const fields = selectableFields.map(({ jsonPath }) => [jsonPath.replace(/^\./, ""), selectableField(jsonPath)]);
  return {
    default: (object) => asObject(applyDefaults(schema, object)),
    ...(subresources.status && { prepareCreate: (object) => withDefaultStatus(schema, object) }),
    validate: customValidation(version).validate,
    ...(rules && { judge: (next: KubeObject, current: KubeObject | undefined) => evaluateRules(rules, next, current) }),
    ...(deprecation !== undefined && { deprecation }),
    warnings: finalizerWarnings,
    fields: Object.fromEntries(fields),
    generation: true,
    needsResourceVersion: true,
  };
}

function customValidation(version: CustomResourceDefinitionVersion) {
  const scale = version.subresources?.scale;
  return createCustomValidation(schemaOf(version), scale && scalePathsOf(scale));
}

/** A new object has no status but that of its schema's defaults. */
function withDefaultStatus(schema: Schema, { status: _status, ...object }: KubeObject): KubeObject {
  return asObject(applyDefaults(schema, object));
}

/**
 * Versions without conversion share what both schemas have. As upstream, which reads what it has just written, an object
 * loses the fields that the storage version lacks, gets that version's defaults, and no others when it is read.
 */
function storedAs(
  { spec: { group, names } }: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  storage: CustomResourceDefinitionVersion,
): StoredAs {
  const [shown, stored] = [schemaOf(version), schemaOf(storage)];
  return {
    group,
    plural: names.plural,
    toStored: (object) => readAs(stored, { ...object, apiVersion: `${group}/${storage.name}` }),
    fromStored: (object) => {
      const own = { ...object, apiVersion: `${group}/${version.name}` };
      return asObject(pruneUnspecified(shown, own).value ?? own);
    },
  };
}

interface ConvertedVersion {
  readonly shown: ResourceKind;
  readonly version: CustomResourceDefinitionVersion;
  readonly storage: CustomResourceDefinitionVersion;
}

/** Objects in the version that is asked for, and in the one in which they are stored, as a webhook makes them. */
function convertedAs(
  { spec: { group, names } }: CustomResourceDefinition,
  { shown, version, storage }: ConvertedVersion,
  { convert, convertAll }: ConvertedObjects,
): StoredAs {
  const own = `${group}/${version.name}`;
  const stored = `${group}/${storage.name}`;
  // What has been in this version all along was pruned when it came.
  const read = (schema: Schema, object: KubeObject, given: KubeObject) =>
    object === given ? object : readConverted(schema, object);
  return {
    group,
    plural: names.plural,
    toStored: (object) => read(schemaOf(storage), convert(object, stored), object),
    fromStored: (object) => read(schemaOf(version), convert(object, own), object),
    conversion: {
      storage: stored,
      shown,
      async showAll(objects) {
        const all = await convertAll(objects, own);
        return all.map((object, index) => read(schemaOf(version), object, objects[index] ?? object));
      },
    },
  };
}

/**
 * The object by its schema. As upstream it gets no defaults: a webhook sets what its version wants. Throws InternalError for
 * what no schema lets in.
 */
function readConverted(schema: Schema, object: KubeObject): KubeObject {
  const { value, errors } = pruneUnspecified(schema, object);
  if (errors.length === 0) return asObject(value);
  const problems = errors.map(formatFieldError).join(", ");
  const kind = `${object.apiVersion}, Kind=${object.kind}`;
  throw internalError(`conversion webhook for ${kind} returned an invalid object: ${problems}`);
}

/** The object by its schema: without unknown fields, and with the defaults. */
function readAs(schema: Schema, object: KubeObject): KubeObject {
  const pruned = pruneUnspecified(schema, object).value;
  return asObject(applyDefaults(schema, pruned ?? object));
}

/**
 * A stored object in the form that it should have after its CRD changed (another storage version, fields gone or
 * defaulted); undefined when it has that form. Upstream does this whenever it reads from its store.
 */
export function upgradeStored(crd: CustomResourceDefinition, object: KubeObject): KubeObject | undefined {
  const storage = crd.spec.versions.find((version) => version.storage);
  if (!storage) return undefined;
  const { apiVersion } = object;
  // What a webhook would have to convert stays as it is until it is written again, as upstream.
  if (hasWebhook(crd) && apiVersion !== `${crd.spec.group}/${storage.name}`) return undefined;
  const upgraded = readAs(schemaOf(storage), { ...object, apiVersion: `${crd.spec.group}/${storage.name}` });
  return isDeepStrictEqual(upgraded, object) ? undefined : upgraded;
}

function asObject(value: unknown): KubeObject {
  if (!isKubeObject(value)) throw new TypeError("a custom object lost its type or metadata");
  return value;
}
