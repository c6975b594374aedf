import type { FieldError } from "../field-error.ts";
import type * as types from "../gen/types.ts";
import { validateAnnotations, validateLabels } from "./metadata.ts";
import { checkDnsLabel, checkQualifiedName } from "./names.ts";
import { each, forbidden, invalid, invalidEach, notNegative, oneOf, required, tooLong } from "./problems.ts";

type Metadata = Readonly<types.ObjectMeta>;

export interface ObjectMetaRules {
  /** If it is false, the object must not name a namespace. */
  readonly namespaced: boolean;
  /** Returns what is wrong with a name of the kind; empty when nothing is. */
  readonly checkName: (name: string) => string[];
  /**
   * True to refuse finalizers without a domain, except upstream's own, as for built-in kinds. Default false, as for
   * custom kinds.
   */
  readonly onlyStandardFinalizers?: boolean;
}

/**
 * Returns what upstream would refuse in the metadata of any object. A name that was to be generated has been generated
 * by now.
 */
export function validateObjectMeta(metadata: Metadata, rules: ObjectMetaRules): FieldError[] {
  const { generation, labels, annotations, ownerReferences, finalizers, managedFields } = metadata;
  return [
    ...validateNames(metadata, rules.checkName),
    ...validateNamespace(metadata.namespace ?? "", rules.namespaced),
    ...notNegative("metadata.generation", generation),
    ...validateLabels("metadata.labels", labels),
    ...validateAnnotations("metadata.annotations", annotations),
    ...validateOwnerReferences(ownerReferences ?? []),
    ...validateFinalizers(finalizers ?? [], rules.onlyStandardFinalizers ?? false),
    ...each("metadata.managedFields", managedFields, validateManagedFields),
  ];
}

/**
 * Returns what upstream would refuse in a change of one metadata into the other. It reports only problems that the
 * comparison shows: the new metadata must pass `validateObjectMeta`, too.
 */
export function validateObjectMetaUpdate(next: Metadata, current: Metadata): FieldError[] {
  const { generation = 0, resourceVersion = "" } = next;
  return [
    ...validateNoNewFinalizers(next, current),
    ...(resourceVersion === ""
      ? [invalid("metadata.resourceVersion", resourceVersion, "must be specified for an update")]
      : []),
    ...(generation < (current.generation ?? 0)
      ? [invalid("metadata.generation", generation, "must not be decremented")]
      : []),
    ...(["name", "namespace", "uid"] as const).flatMap((field) => {
      return immutable(field, next[field] ?? "", current[field] ?? "");
    }),
    ...(["creationTimestamp", "deletionTimestamp"] as const).flatMap((field) => {
      return isSameTime(next[field], current[field]) ? [] : immutable(field, next[field], current[field]);
    }),
    ...immutable("deletionGracePeriodSeconds", next.deletionGracePeriodSeconds, current.deletionGracePeriodSeconds),
  ];
}

function immutable(field: string, next: unknown, current: unknown): FieldError[] {
  return next === current ? [] : [invalid(`metadata.${field}`, next, "field is immutable")];
}

/** True for the same moment, however it is written. */
function isSameTime(next: string | undefined, current: string | undefined): boolean {
  return next !== undefined && current !== undefined && Date.parse(next) === Date.parse(current);
}

function validateNoNewFinalizers(next: Metadata, current: Metadata): FieldError[] {
  if (current.deletionTimestamp === undefined) return [];
  const known = new Set(current.finalizers);
  const added = [...new Set(next.finalizers)].filter((finalizer) => !known.has(finalizer)).sort();
  if (added.length === 0) return [];
  const list = `[]string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  const rule = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbidden("metadata.finalizers", rule)];
}

function validateNames(
  { name = "", generateName = "" }: Metadata,
  checkName: (name: string) => string[],
): FieldError[] {
  const base = generateName === "" ? [] : checkName(maskTrailingDash(generateName));
  return [
    ...invalidEach("metadata.generateName", generateName, base),
    ...(name === ""
      ? [required("metadata.name", "name or generateName is required")]
      : invalidEach("metadata.name", name, checkName(name))),
  ];
}

/** The start of a name may end in a dash, because more text follows it. */
function maskTrailingDash(base: string): string {
  return base.length > 1 && base.endsWith("-") ? `${base.slice(0, -2)}a` : base;
}

function validateNamespace(namespace: string, namespaced: boolean): FieldError[] {
  if (!namespaced) return namespace === "" ? [] : [forbidden("metadata.namespace", "not allowed on this type")];
  if (namespace === "") return [required("metadata.namespace")];
  return invalidEach("metadata.namespace", namespace, checkDnsLabel(namespace));
}

function validateOwnerReferences(references: readonly types.OwnerReference[]): FieldError[] {
  const path = "metadata.ownerReferences";
  // Upstream does not say which of the references it is.
  const errors = references.flatMap((reference) => validateOwnerReference(reference, path));
  const [first, ...others] = references
    .filter(({ controller }) => controller === true)
    .map(({ kind, name }) => `${kind}/${name}`);
  const rule = 'Only one reference can have Controller set to true. Found "true" in references for';
  return [...errors, ...others.map((other) => invalid(path, references, `${rule} ${first} and ${other}`))];
}

function validateOwnerReference(reference: types.OwnerReference, path: string): FieldError[] {
  const { apiVersion, kind, name, uid } = reference;
  const hasVersion = /^([^/]*\/)?[^/]+$/.test(apiVersion);
  const isBanned = (apiVersion === "v1" || apiVersion === "/v1") && kind === "Event";
  const missing = Object.entries({ kind, name, uid }).filter(([, value]) => value === "");
  return [
    ...(hasVersion ? [] : [invalid(`${path}.apiVersion`, apiVersion, "version must not be empty")]),
    ...missing.map(([field]) => invalid(`${path}.${field}`, "", "must not be empty")),
    ...(isBanned ? [invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner")] : []),
  ];
}

const ORPHAN_DEPENDENTS = "orphan";
const DELETE_DEPENDENTS = "foregroundDeletion";
const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", ORPHAN_DEPENDENTS, DELETE_DEPENDENTS]);

function validateFinalizers(finalizers: readonly string[], onlyStandard: boolean): FieldError[] {
  const path = "metadata.finalizers";
  const errors = finalizers.flatMap((finalizer) => invalidEach(path, finalizer, checkQualifiedName(finalizer)));
  if (finalizers.includes(ORPHAN_DEPENDENTS) && finalizers.includes(DELETE_DEPENDENTS)) {
    const rule = `finalizer ${ORPHAN_DEPENDENTS} and ${DELETE_DEPENDENTS} cannot be both set`;
    errors.push(invalid(path, finalizers, rule));
  }
  if (!onlyStandard) return errors;
  const unqualified = each(path, finalizers, (finalizer, itemPath) => {
    if (finalizer.includes("/") || STANDARD_FINALIZERS.has(finalizer)) return [];
    return [invalid(itemPath, finalizer, "name is neither a standard finalizer name nor is it fully qualified")];
  });
  return [...errors, ...unqualified];
}

const MAX_FIELD_OWNER_BYTES = 128;
const MAX_SUBRESOURCE_BYTES = 256;

function validateManagedFields(entry: types.ManagedFieldsEntry, path: string): FieldError[] {
  const { operation = "", fieldsType = "", manager = "", subresource = "" } = entry;
  return [
    ...(operation === ""
      ? [required(`${path}.operation`, "must not be empty")]
      : oneOf(`${path}.operation`, operation, ["Apply", "Update"])),
    ...(fieldsType === "" || fieldsType === "FieldsV1"
      ? []
      : [invalid(`${path}.fieldsType`, fieldsType, "must be `FieldsV1`")]),
    ...validateFieldOwner(`${path}.manager`, manager),
    ...(Buffer.byteLength(subresource) > MAX_SUBRESOURCE_BYTES
      ? [tooLong(`${path}.subresource`, MAX_SUBRESOURCE_BYTES)]
      : []),
  ];
}

function validateFieldOwner(path: string, manager: string): FieldError[] {
  const errors = Buffer.byteLength(manager) > MAX_FIELD_OWNER_BYTES ? [tooLong(path, MAX_FIELD_OWNER_BYTES)] : [];
  // Positions count bytes, as Go's strings do.
  let position = 0;
  for (const character of manager) {
    if (!/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}
