import type { FieldError } from "../../../../api/field-error.ts";
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { compareQuantities } from "../../../../api/quantity.ts";
import { validateClaimSpec } from "../../../../api/validation/claim.ts";
import { forbidden, optionalOneOf } from "../../../../api/validation/problems.ts";
import { defineKind } from "../../define-kind.ts";
import { immutable } from "../../rules/immutable.ts";
import { findChanges, formatChanges } from "../../rules/semantic-changes.ts";
import { statusSubresource } from "../../subresource.ts";
import { validateAmount } from "../resource-amounts.ts";

/** Claims of persistent volumes. */
export const persistentVolumeClaimKind = defineKind({
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  shortNames: ["pvc"],
  strategy: {
    default: defaultClaim,
    prepareCreate: prepareClaim,
    validate: validateClaim,
    validateUpdate,
    returnsDeleted: true,
    fields: { name: ({ metadata }) => metadata.name ?? "" },
  },
  subresources: [statusSubresource("PersistentVolumeClaim", validateStatus)],
});

const specOf = (claim: PersistentVolumeClaim): PersistentVolumeClaimSpec => claim.spec ?? {};

/** Sets the defaults. A data source is the older form of a reference within the namespace, so the two fields agree. */
function defaultClaim(object: KubeObject): KubeObject {
  const claim = typed("PersistentVolumeClaim", object);
  const { spec = {}, status = {} } = claim;
  const { dataSource: sent, ...rest } = spec;
  const { dataSourceRef } = rest;
  const dataSource = dataSourceRef || isKnownSource(sent) ? sent : undefined;
  const older = dataSourceRef && !dataSourceRef.namespace ? withoutNamespace(dataSourceRef) : undefined;
  return untyped({
    ...claim,
    spec: {
      ...rest,
      resources: rest.resources ?? {},
      volumeMode: rest.volumeMode ?? "Filesystem",
      ...(dataSource && { dataSource }),
      ...(dataSource && !dataSourceRef && { dataSourceRef: dataSource }),
      ...(older && !dataSource && { dataSource: older }),
    },
    status: { ...status, phase: status.phase || "Pending" },
  });
}

/**
 * True for a source that can be one. Upstream has always ignored other values of the older field, while it takes those
 * of the newer reference as they are.
 */
function isKnownSource(source: PersistentVolumeClaimSpec["dataSource"]): boolean {
  const { apiGroup = "", kind = "" } = source ?? {};
  if (apiGroup === "") return kind === "PersistentVolumeClaim";
  return apiGroup === "snapshot.storage.k8s.io" && kind === "VolumeSnapshot";
}

function withoutNamespace<Reference extends { namespace?: string }>({
  namespace: _none,
  ...reference
}: Reference): Omit<Reference, "namespace"> {
  return reference;
}

function prepareClaim(object: KubeObject): KubeObject {
  return untyped({ ...typed("PersistentVolumeClaim", object), status: { phase: "Pending" } });
}

function validateClaim(object: KubeObject): FieldError[] {
  return validateClaimSpec("spec", specOf(typed("PersistentVolumeClaim", object)));
}

/**
 * The problems of an update. A claim may be bound once, get the default class that it was created without, ask for
 * another class of attributes, and, once bound, ask for more space. It may reduce its request only to a size that it
 * has not got yet.
 */
function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const claim = typed("PersistentVolumeClaim", next);
  const old = typed("PersistentVolumeClaim", current);
  const changes = findChanges(fixedPart(old, old), fixedPart(claim, old), "spec");
  const detail =
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
  return [
    ...(changes.length > 0 ? [forbidden("spec", `${detail}\n${formatChanges(changes)}`)] : []),
    ...validateSize(claim, old),
    // The path is upstream's.
    ...immutable("volumeMode", specOf(claim).volumeMode, specOf(old).volumeMode),
  ];
}

/** The spec without the fields that may change, for the claim as it is stored. */
function fixedPart(claim: PersistentVolumeClaim, stored: PersistentVolumeClaim): PersistentVolumeClaimSpec {
  const { volumeAttributesClassName: _class, ...spec } = specOf(claim);
  const old = specOf(stored);
  if (!old.volumeName) delete spec.volumeName;
  if (old.storageClassName === undefined) delete spec.storageClassName;
  if (stored.status?.phase !== "Bound") return spec;
  const { storage: _storage, ...requests } = spec.resources?.requests ?? {};
  return { ...spec, resources: { ...spec.resources, requests } };
}

function validateSize(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): FieldError[] {
  const [size, before] = [claim, old].map((version) => specOf(version).resources?.requests?.["storage"]);
  if (size === undefined || before === undefined || compareQuantities(size, before) >= 0) return [];
  const actual = old.status?.capacity?.["storage"];
  if (actual !== undefined && compareQuantities(size, actual) > 0) return [];
  return [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")];
}

/** The states of a resize. */
const RESIZE_STATUSES = [
  "ControllerResizeInProgress",
  "ControllerResizeInfeasible",
  "NodeResizeInProgress",
  "NodeResizeInfeasible",
  "NodeResizePending",
];

function validateStatus(next: KubeObject): FieldError[] {
  const {
    capacity = {},
    allocatedResources = {},
    allocatedResourceStatuses = {},
  } = typed("PersistentVolumeClaim", next).status ?? {};
  const amounts = (path: string, list: Record<string, string>) =>
    Object.entries(list).flatMap(([name, amount]) => validateAmount(`${path}[${name}]`, name, amount));
  return [
    ...amounts("status.capacity", capacity),
    ...amounts("status.allocatedResources", allocatedResources),
    ...Object.entries(allocatedResourceStatuses).flatMap(([name, status]) => {
      return optionalOneOf(`status.allocatedResourceStatuses[${name}]`, status, RESIZE_STATUSES);
    }),
  ];
}
