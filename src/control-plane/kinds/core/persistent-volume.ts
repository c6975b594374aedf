import type { FieldError } from "../../../api/field-error.ts";
import type { PersistentVolumeSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { checkDnsSubdomain } from "../../../api/validation/names.ts";
import {
  each,
  forbidden,
  invalid,
  invalidEach,
  optionalOneOf,
  required,
  unsupported,
} from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "./immutable.ts";
import { ACCESS_MODES, VOLUME_MODES, validatePositive } from "./persistent-storage.ts";
import { findChanges, formatChanges, isSame } from "./semantic-changes.ts";
import { statusSubresource } from "./subresource.ts";

/** Persistent volumes. */
export const PERSISTENT_VOLUMES = defineKind({
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  shortNames: ["pv"],
  namespaced: false,
  strategy: {
    default: defaultVolume,
    prepareCreate: (object) => untyped({ ...typed("PersistentVolume", object), status: { phase: "Pending" } }),
    validate: validateVolume,
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
    },
    status: { ...status, phase: status.phase || "Pending" },
  });
}

/** All that is not a source of the volume. */
const OTHER_FIELDS = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
]);

const sourcesOf = (spec: PersistentVolumeSpec): Record<string, unknown> =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !OTHER_FIELDS.has(field)));

function validateVolume(object: KubeObject): FieldError[] {
  const spec = specOf(object);
  const { persistentVolumeReclaimPolicy: policy, storageClassName = "", volumeMode } = spec;
  return [
    ...validateAccess(spec),
    ...validateCapacity(spec),
    ...optionalOneOf("spec.persistentVolumeReclaimPolicy", policy, ["Delete", "Recycle", "Retain"]),
    ...validateSource(spec),
    ...(storageClassName === ""
      ? []
      : invalidEach("spec.storageClassName", storageClassName, checkDnsSubdomain(storageClassName))),
    ...optionalOneOf("spec.volumeMode", volumeMode, VOLUME_MODES),
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

function validateSource(spec: PersistentVolumeSpec): FieldError[] {
  const [source, ...more] = Object.keys(sourcesOf(spec));
  if (source === undefined) return [required("spec", "must specify a volume type")];
  const errors = more.map((name) => forbidden(`spec.${name}`, "may not specify more than 1 volume type"));
  if (spec.local && !spec.nodeAffinity?.required) {
    errors.push(required("spec.nodeAffinity", "Local volume requires node affinity"));
  }
  if (spec.hostPath?.path === "") errors.push(required("spec.hostPath.path"));
  if (spec.hostPath?.path.split("/").includes("..")) {
    errors.push(invalid("spec.hostPath.path", spec.hostPath.path, "must not contain '..'"));
  }
  if (spec.hostPath?.path === "/" && spec.persistentVolumeReclaimPolicy === "Recycle") {
    const detail = "may not be 'recycle' for a hostPath mount of '/'";
    errors.push(forbidden("spec.persistentVolumeReclaimPolicy", detail));
  }
  if (spec.csi) {
    errors.push(
      ...each("spec.csi", [spec.csi], ({ driver, volumeHandle }) => [
        ...(driver === "" ? [required("spec.csi.driver")] : []),
        ...(volumeHandle === "" ? [required("spec.csi.volumeHandle")] : []),
      ]),
    );
  }
  return errors;
}

/** Where the data lies does not change; whose it is, and what becomes of it, does. */
function validateUpdate(next: KubeObject, current: KubeObject): FieldError[] {
  const [spec, old] = [specOf(next), specOf(current)];
  const changes = findChanges(sourcesOf(old), sourcesOf(spec), "spec");
  const detail = `spec.persistentvolumesource is immutable after creation\n${formatChanges(changes)}`;
  const isPlaced = old.nodeAffinity !== undefined && !isSame(old.nodeAffinity, spec.nodeAffinity);
  return [
    ...(changes.length > 0 ? [forbidden("spec.persistentvolumesource", detail)] : []),
    ...immutable("spec.volumeMode", spec.volumeMode, old.volumeMode),
    ...(isPlaced ? [invalid("spec.nodeAffinity", spec.nodeAffinity, "field is immutable")] : []),
  ];
}
