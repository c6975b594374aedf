import { DEFINITION_NAMES } from "../../api/gen/served-schema.ts";
import type { CustomResourceConversion, CustomResourceDefinition } from "../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../api/object.ts";
import { servedNode } from "../../api/schema-node.ts";
import type { Column, ResourceKind } from "../ports/resource-kind.ts";
import { decodeCrd } from "./crd-decode.ts";
import { checkCosts, validateCrd, validateCrdUpdate } from "./crd-rules.ts";
import { isEstablished, markCrdDeleted } from "./crd-status.ts";
import { isKnownFormat } from "./formats.ts";
import { walkSchemas } from "./schema-props.ts";

const GROUP = "apiextensions.k8s.io";
const KIND = "CustomResourceDefinition";

const crdOf = (object: KubeObject) => typed(KIND, object);

/** A hook for CRDs in the form of a hook for any object. */
const onCrd = (change: (crd: CustomResourceDefinition) => CustomResourceDefinition) => (object: KubeObject) => {
  return untyped(change(crdOf(object)));
};

const COLUMNS: readonly Column[] = [
  {
    name: "Name",
    type: "string",
    format: "name",
    description: "The definition's name, its plural and group.",
    priority: 0,
    cell: ({ metadata }) => metadata.name ?? "",
  },
  {
    name: "Created At",
    type: "date",
    description: "When the definition was created.",
    priority: 0,
    cell: ({ metadata }) => metadata.creationTimestamp ?? "<unknown>",
  },
];

/** `customresourcedefinitions.apiextensions.k8s.io`. What it adds to the table: see `customKinds`. */
export const CRD_KIND: ResourceKind = {
  group: GROUP,
  version: "v1",
  kind: KIND,
  listKind: `${KIND}List`,
  plural: "customresourcedefinitions",
  singular: "customresourcedefinition",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
  schema: {
    decode: decodeCrd,
    node: servedNode(KIND),
    strategicMerge: true,
    definition: DEFINITION_NAMES[KIND] ?? KIND,
  },
  strategy: {
    default: onCrd(defaultCrd),
    prepareCreate: onCrd(({ status: _status, ...crd }) => keepStorageVersion(crd)),
    prepareUpdate: onCrd(keepStorageVersion),
    validate: (object) => validateCrd(crdOf(object)),
    validateCreate: (object) => checkCosts(crdOf(object)),
    validateUpdate: (next, current) => validateCrdUpdate(crdOf(next), crdOf(current)),
    warnings: (object, current) => {
      const known = new Set(current && warnAbout(crdOf(current)));
      return warnAbout(crdOf(object)).filter((warning) => !known.has(warning));
    },
    // An established CRD has objects, which go first: see `planCrdDeletion`.
    isHeld: (object) => isEstablished(crdOf(object)) && object.metadata.deletionTimestamp === undefined,
    markDeleted: (object) => {
      const crd = crdOf(object);
      return isEstablished(crd)
        ? untyped(markCrdDeleted(crd, Date.parse(object.metadata.deletionTimestamp ?? "")))
        : object;
    },
    generation: true,
    needsResourceVersion: true,
  },
  subresources: [{ name: "status", group: GROUP, version: "v1", kind: KIND, verbs: ["get", "patch", "update"] }],
  columns: COLUMNS,
};

function defaultCrd(crd: CustomResourceDefinition): CustomResourceDefinition {
  // What is false is left out, as by upstream's encoder.
  const { preserveUnknownFields, ...spec } = crd.spec;
  const { names, conversion } = spec;
  const singular = names.singular ? names.singular : names.kind.toLowerCase();
  const listKind = names.listKind || names.kind === "" ? names.listKind : `${names.kind}List`;
  return {
    ...crd,
    spec: {
      ...spec,
      ...(preserveUnknownFields && { preserveUnknownFields }),
      conversion: conversion ? withPort(conversion) : { strategy: "None" },
      names: { ...names, singular, ...(listKind !== undefined && { listKind }) },
    },
  };
}

const HTTPS_PORT = 443;

function withPort(conversion: CustomResourceConversion): CustomResourceConversion {
  const { webhook } = conversion;
  const { service } = webhook?.clientConfig ?? {};
  if (webhook === undefined || service === undefined) return conversion;
  const clientConfig = { ...webhook.clientConfig, service: { port: HTTPS_PORT, ...service } };
  return { ...conversion, webhook: { ...webhook, clientConfig } };
}

/** Remembers the storage version, in which objects may be stored from now on, until a migration takes it away. */
function keepStorageVersion(crd: CustomResourceDefinition): CustomResourceDefinition {
  const stored = crd.status?.storedVersions ?? [];
  const storage = crd.spec.versions.find((version) => version.storage)?.name;
  if (storage === undefined || stored.includes(storage)) return crd;
  return { ...crd, status: { ...crd.status, storedVersions: [...stored, storage] } };
}

function warnAbout(crd: CustomResourceDefinition): string[] {
  const warnings = new Set<string>();
  for (const { schema: validation } of crd.spec.versions) {
    for (const { schema } of walkSchemas(validation?.openAPIV3Schema ?? {})) {
      if (schema.format && !isKnownFormat(schema.type, schema.format))
        warnings.add(`unrecognized format ${JSON.stringify(schema.format)}`);
    }
  }
  return [...warnings];
}
