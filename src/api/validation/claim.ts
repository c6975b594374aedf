import { isDeepStrictEqual } from "node:util";
import type { FieldError } from "../field-error.ts";
import type { PersistentVolumeClaimSpec, PersistentVolumeClaimTemplate } from "../gen/types.ts";
import { compareQuantities } from "../quantity.ts";
import { validateLabelSelector } from "./label-selector.ts";
import { validateAnnotations, validateLabels } from "./metadata.ts";
import { checkDnsSubdomain } from "./names.ts";
import { forbidden, invalid, invalidEach, optionalOneOf, required, unsupported } from "./problems.ts";

/** The modes say how many nodes or pods may mount a volume, and whether they may write. */
export const ACCESS_MODES: readonly string[] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/** The modes say whether a container finds a device or a file system at the volume's path. */
export const VOLUME_MODES: readonly string[] = ["Block", "Filesystem"];

/** A size must be greater than zero, because a volume of no size holds nothing. */
export function validatePositive(path: string, size: string): FieldError[] {
  return compareQuantities(size, "0") > 0 ? [] : [invalid(path, size, "must be greater than zero")];
}

/** Validates the storage that is asked for by a claim, or by a template for claims. */
export function validateClaimSpec(path: string, spec: PersistentVolumeClaimSpec): FieldError[] {
  const { volumeMode, resources } = spec;
  const storage = resources?.requests?.["storage"];
  const at = `${path}.resources[storage]`;
  return [
    ...validateAccess(`${path}.accessModes`, spec),
    ...validateLabelSelector(`${path}.selector`, spec.selector),
    ...(storage === undefined ? [required(at)] : validatePositive(at, storage)),
    ...validateClass(`${path}.storageClassName`, spec.storageClassName),
    ...optionalOneOf(`${path}.volumeMode`, volumeMode, VOLUME_MODES),
    ...validateSource(path, spec),
    ...validateClass(`${path}.volumeAttributesClassName`, spec.volumeAttributesClassName),
  ];
}

/** Validates the labels and annotations of a claim that will be made, and its spec. */
export function validateClaimTemplate(path: string, template: PersistentVolumeClaimTemplate): FieldError[] {
  const { labels, annotations, ...others } = template.metadata ?? {};
  return [
    ...validateAnnotations(`${path}.metadata.annotations`, annotations),
    ...validateLabels(`${path}.metadata.labels`, labels),
    ...Object.keys(others).map((field) => forbidden(`${path}.metadata.${field}`, "cannot be set")),
    ...validateClaimSpec(`${path}.spec`, template.spec),
  ];
}

function validateClass(path: string, name = ""): FieldError[] {
  return name === "" ? [] : invalidEach(path, name, checkDnsSubdomain(name));
}

function validateAccess(path: string, { accessModes = [] }: PersistentVolumeClaimSpec): FieldError[] {
  if (accessModes.length === 0) return [required(path, "at least 1 access mode is required")];
  const isKnown = (mode: string) => ACCESS_MODES.includes(mode);
  const errors = accessModes.filter((mode) => !isKnown(mode)).map((mode) => unsupported(path, mode, ACCESS_MODES));
  const isShared = accessModes.some((mode) => isKnown(mode) && mode !== "ReadWriteOncePod");
  if (accessModes.includes("ReadWriteOncePod") && isShared) {
    errors.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  }
  return errors;
}

function validateSource(path: string, { dataSource, dataSourceRef }: PersistentVolumeClaimSpec): FieldError[] {
  const errors = Object.entries({ dataSource, dataSourceRef }).flatMap(([field, source]) => {
    if (source === undefined) return [];
    const { apiGroup = "", kind, name } = source;
    const isClaim = apiGroup !== "" || kind === "PersistentVolumeClaim";
    const detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
    return [
      ...(name === "" ? [required(`${path}.${field}.name`)] : []),
      ...(kind === "" ? [required(`${path}.${field}.kind`)] : []),
      ...(isClaim ? [] : [invalid(`${path}.${field}`, kind, detail)]),
      ...(apiGroup === "" ? [] : invalidEach(`${path}.${field}.apiGroup`, apiGroup, checkDnsSubdomain(apiGroup))),
    ];
  });
  if (dataSource === undefined || dataSourceRef === undefined) return errors;
  // The value is upstream's: the path of the field that should be changed.
  if (dataSourceRef.namespace) {
    const detail = "may not be specified when dataSourceRef.namespace is specified";
    return [...errors, invalid(path, `${path}.dataSource`, detail)];
  }
  if (isDeepStrictEqual({ ...dataSource }, { ...dataSourceRef })) return errors;
  return [...errors, invalid(path, `${path}.dataSource`, "must match dataSourceRef")];
}
