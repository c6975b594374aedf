import { badRequestError, conflictError, invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { checkDnsSubdomain } from "../../api/validation/names.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../../api/validation/object-meta.ts";
import { invalid, required } from "../../api/validation/problems.ts";
import { formatTime } from "../../base/clock.ts";
import type { ResourceKind, Subresource } from "../ports/resource-kind.ts";
import { withMetadata } from "./object-view.ts";

/** The base of a generated name is cut so that it fits a DNS label together with its suffix. */
const MAX_GENERATED_BASE = 63 - 5;

/** The object in the namespace of the path. Throws when the object names another one. */
export function placeInNamespace(kind: ResourceKind, object: KubeObject, namespace: string): KubeObject {
  const own = object.metadata.namespace ?? "";
  if (!kind.namespaced) return own === "" ? object : withMetadata(object, { namespace: undefined });
  if (own !== "" && own !== namespace) {
    const message = `the namespace of the provided object does not match the namespace sent on the request`;
    throw badRequestError(`${message}: ${own} is not ${namespace}`);
  }
  return withMetadata(object, { namespace });
}

/** Throws BadRequest when the object has another name than the path, or none. */
export function checkNameInPath({ metadata }: KubeObject, name: string): void {
  const { name: sent = "" } = metadata;
  if (sent === name) return;
  throw badRequestError(
    sent === ""
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${sent}) does not match the name on the URL (${name})`,
  );
}

/**
 * The new object with the metadata that only the server sets. The name is generated when only its beginning is given.
 */
export function stampCreated(
  kind: ResourceKind,
  object: KubeObject,
  stamp: { now: number; uid: string; suffix: string },
): KubeObject {
  const { name = "", generateName = "", resourceVersion = "" } = object.metadata;
  const isGenerated = name === "" && generateName !== "";
  return withMetadata(object, {
    name: isGenerated ? generateName.slice(0, MAX_GENERATED_BASE) + stamp.suffix : name,
    uid: stamp.uid,
    creationTimestamp: formatTime(stamp.now),
    generation: kind.strategy.generation ? 1 : undefined,
    deletionTimestamp: undefined,
    deletionGracePeriodSeconds: undefined,
    selfLink: undefined,
    resourceVersion: resourceVersion === "" ? undefined : resourceVersion,
  });
}

/** Throws Invalid unless metadata and the kind's own rules hold for a new object. */
export function checkCreated(kind: ResourceKind, object: KubeObject): void {
  const { strategy } = kind;
  const errors = [...checkMetadata(kind, object), ...(strategy.validate?.(object) ?? [])];
  if (errors.length === 0) errors.push(...(strategy.validateCreate?.(object) ?? []));
  refuse(kind, object, [...errors, ...judge(kind, { next: object, errors, warn() {} })]);
}

/** Complaints after which rules would only add noise: their values are not of the types that they were compiled for. */
const BLOCKING = new Set<FieldError["reason"]>([
  "FieldValueNotSupported",
  "FieldValueRequired",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
]);

interface Judged {
  readonly next: KubeObject;
  readonly current?: KubeObject;
  /** The problems that were found before. */
  readonly errors: readonly FieldError[];
  warn(message: string): void;
}

/** What the rules of a definition say of its object. */
function judge({ strategy }: ResourceKind, { next, current, errors, warn }: Judged): FieldError[] {
  if (!strategy.judge) return [];
  if (errors.some(({ reason }) => BLOCKING.has(reason))) {
    const detail =
      "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    return [invalid("<nil>", null, detail)];
  }
  const found = strategy.judge(next, current);
  for (const warning of found.warnings) warn(warning);
  return found.errors;
}

/**
 * Throws Invalid unless the object is a valid next version of the current one. A subresource checks only the part that
 * it changes, because the rest was valid when it was stored, perhaps by milder rules.
 */
export function checkUpdated(
  { kind, subresource, context }: UpdateTarget,
  next: KubeObject,
  current: KubeObject,
): void {
  const { strategy } = kind;
  const errors = subresource
    ? (subresource.validateUpdate?.(next, current) ?? [])
    : [...(strategy.validate?.(next, current) ?? []), ...(strategy.validateUpdate?.(next, current) ?? [])];
  const metadata = validateObjectMetaUpdate(next.metadata, current.metadata);
  const all = [...metadata, ...checkMetadata(kind, next), ...errors];
  refuse(kind, next, [...all, ...judge(kind, { next, current, errors: all, warn: context.warn })]);
}

interface UpdateTarget {
  readonly kind: ResourceKind;
  readonly subresource?: Subresource | undefined;
  readonly context: { warn(message: string): void };
}

function checkMetadata({ group, namespaced, strategy, schema }: ResourceKind, { metadata }: KubeObject): FieldError[] {
  const { name = "" } = metadata;
  if (name === "") return [required("metadata.name", "name or generateName is required")];
  const checkName = strategy.checkName ?? checkDnsSubdomain;
  // Objects of built-in kinds take only finalizers with a domain; custom objects and their definitions take any.
  const onlyStandardFinalizers = schema.strategicMerge && group !== "apiextensions.k8s.io";
  return validateObjectMeta(metadata, { namespaced, checkName, onlyStandardFinalizers });
}

function refuse(kind: ResourceKind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidError(kind, object.metadata.name ?? "", errors);
}

/** The next version with the metadata that an update may leave out, and without the metadata that it may not set. */
export function carryMetadata(next: KubeObject, current: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation } = current.metadata;
  const given = next.metadata;
  return withMetadata(next, {
    uid: given.uid === undefined || given.uid === "" ? uid : given.uid,
    creationTimestamp,
    deletionTimestamp: deletionTimestamp ?? given.deletionTimestamp,
    deletionGracePeriodSeconds: given.deletionGracePeriodSeconds ?? deletionGracePeriodSeconds,
    generation,
    selfLink: undefined,
    resourceVersion: current.metadata.resourceVersion,
  });
}

/** The properties that a caller expects of the object that it changes or deletes. */
export interface Preconditions {
  uid?: string | undefined;
  resourceVersion?: string | undefined;
}

/** Throws Conflict when the object is not the one that the caller means. */
export function checkPreconditions(kind: ResourceKind, current: KubeObject, expected: Preconditions): void {
  const { name = "", uid = "", resourceVersion = "" } = current.metadata;
  const subject = { group: kind.group, resource: kind.plural };
  if (expected.uid !== undefined && expected.uid !== "" && expected.uid !== uid) {
    const detail = `Precondition failed: UID in precondition: ${expected.uid}, UID in object meta: ${uid}`;
    throw conflictError(subject, name, detail);
  }
  const wanted = expected.resourceVersion ?? "";
  if (wanted !== "" && wanted !== "0" && wanted !== resourceVersion) {
    throw conflictError(
      subject,
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    );
  }
}
