import type { FieldError } from "../../../../api/field-error.ts";
import type { PersistentVolumeSpec } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import { ACCESS_MODES, VOLUME_MODES, validatePositive } from "../../../../api/validation/claim.ts";
import { checkDnsSubdomain } from "../../../../api/validation/names.ts";
import { forbidden, invalidEach, optionalOneOf, required, unsupported } from "../../../../api/validation/problems.ts";
import { defineKind } from "../../define-kind.ts";
import { immutable } from "../../rules/immutable.ts";
import { findChanges, formatChanges } from "../../rules/semantic-changes.ts";
import { statusSubresource } from "../../subresource.ts";
import { sourcesOf, validateSource } from "./persistent-volume-source.ts";
import { validateVolumeNodeAffinity } from "./volume-node-affinity.ts";

/** Persistent volumes. */
export const persistentVolumeKind = defineKind({
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  shortNames: ["pv"],
  namespaced: false,
  strategy: {
    default: defaultVolume,
    prepareCreate: prepareVolume,
    validate: validateVolume,
    validateCreate: (object) => validateVolumeNodeAffinity("spec.nodeAffinity", specOf(object).nodeAffinity, false),
    validateUpdate,
    returnsDeleted: true,
    fields: { name: ({ metadata }) => metadata.name ?? "" },
  },
  subresources: [statusSubresource("PersistentVolume", () => [])],
});

const specOf = (object: KubeObject): PersistentVolumeSpec => typed("PersistentVolume", object).spec ?? {};

function defaultVolume(object: KubeObject): KubeObject {
  const volume = typed("PersistentVolume", object);
  const { spec = {}, status = {} } = volume;
  return untyped({
    ...volume,
    spec: {
      ...spec,
      persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy || "Retain",
      volumeMode: spec.volumeMode ?? "Filesystem",
      ...(spec.hostPath && { hostPath: { ...spec.hostPath, type: spec.hostPath.type ?? "" } }),
      ...(spec.iscsi && { iscsi: { ...spec.iscsi, iscsiInterface: spec.iscsi.iscsiInterface || "default" } }),
    },
    status: { ...status, phase: status.phase || "Pending" },
  });
}

function prepareVolume(object: KubeObject): KubeObject {
  const { creationTimestamp: lastPhaseTransitionTime = "" } = object.metadata;
  return untyped({ ...typed("PersistentVolume", object), status: { phase: "Pending", lastPhaseTransitionTime } });
}

function validateVolume(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const { persistentVolumeReclaimPolicy: policy, storageClassName = "", volumeMode } = spec;
  return [
    ...validateAccess(spec),
    ...validateCapacity(spec),
    ...optionalOneOf("spec.persistentVolumeReclaimPolicy", policy, ["Delete", "Recycle", "Retain"]),
    ...validateVolumeNodeAffinity("spec.nodeAffinity", spec.nodeAffinity),
    ...validateSource(spec, object.metadata.name ?? ""),
    ...(storageClassName === ""
      ? []
      : invalidEach("spec.storageClassName", storageClassName, checkDnsSubdomain(storageClassName))),
    ...optionalOneOf("spec.volumeMode", volumeMode, VOLUME_MODES),
    ...validateAttributesClass(spec),
  ];
}

function validateAccess({ accessModes = [] }: PersistentVolumeSpec): FieldError[] {
  const path = "spec.accessModes";
  if (accessModes.length === 0) return [required(path)];
  const errors = accessModes
    .filter((mode) => !ACCESS_MODES.includes(mode))
    .map((mode) => unsupported(path, mode, ACCESS_MODES));
  const isExclusive = accessModes.includes("ReadWriteOncePod") && accessModes.length > 1;
  if (isExclusive) errors.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  return errors;
}

function validateCapacity({ capacity = {} }: PersistentVolumeSpec): FieldError[] {
  const path = "spec.capacity";
  const names = Object.keys(capacity);
  if (names.length === 0) return [required(path)];
  const errors = names.length > 1 || names[0] !== "storage" ? [unsupported(path, capacity, ["storage"])] : [];
  return [...errors, ...Object.entries(capacity).flatMap(([name, size]) => validatePositive(`${path}[${name}]`, size))];
}

/** The problems of the class of attributes, which only the driver of a CSI volume can change. */
function validateAttributesClass({ volumeAttributesClassName: name, csi }: PersistentVolumeSpec): FieldError[] {
  if (name === undefined) return [];
  const path = "spec.volumeAttributesClassName";
  return [
    ...(name === ""
      ? [required(path, "an empty string is disallowed")]
      : invalidEach(path, name, checkDnsSubdomain(name))),
    ...(csi === undefined ? [required("spec.csi", "has to be specified when using volumeAttributesClassName")] : []),
  ];
}

/** The problems of an update. The source of the data does not change; its claim and its reclaim policy may. */
function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const [spec, old] = [specOf(next), specOf(current)];
  const changes = findChanges(sourcesOf(old), sourcesOf(withoutNewSecret(spec, old)), "spec");
  const detail = `spec.persistentvolumesource is immutable after creation\n${formatChanges(changes)}`;
  // The paths of the immutable fields are upstream's, which leave out the spec.
  return [
    ...(changes.length > 0 ? [forbidden("spec.persistentvolumesource", detail)] : []),
    ...immutable("volumeMode", spec.volumeMode, old.volumeMode),
    ...(old.nodeAffinity === undefined ? [] : immutable("nodeAffinity", spec.nodeAffinity, old.nodeAffinity)),
  ];
}

/** The spec without a secret for the resize that was added: a volume that could not be resized may get it. */
function withoutNewSecret(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): PersistentVolumeSpec {
  if (spec.csi === undefined || old.csi === undefined || old.csi.controllerExpandSecretRef !== undefined) return spec;
  const { controllerExpandSecretRef: _new, ...csi } = spec.csi;
  return { ...spec, csi };
}
