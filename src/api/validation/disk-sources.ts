import type { FieldError } from "../field-error.ts";
import type {
  FCVolumeSource,
  ISCSIPersistentVolumeSource,
  ISCSIVolumeSource,
  PersistentVolumeSpec,
  Volume,
} from "../gen/types.ts";
import { inRange, invalid, required } from "./problems.ts";

const LUNS = [0, 255] as const;
const MAX_INTERFACE_NAME_BYTES = 64;
const INTERFACE_NAME_TOO_LONG =
  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
const UNKNOWN_FORM = "must be valid format starting with iqn, eui, or naa";
const BAD_FORM = "must be valid format";
/** The forms of names of targets and initiators, by how they begin (`iscsiInitiatorIqnRegex` and its neighbours). */
const NAME_FORMS: Readonly<Record<string, RegExp>> = {
  iqn: /iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\t\n\f\r ]+)$/,
  eui: /^eui.[A-Za-z0-9]{16}$/,
  naa: /^naa.[A-Za-z0-9]{32}$/,
};

/** The problems of disks that a pod names itself: `iscsi` and `fc`. */
export function validateDiskSource(path: string, { name, iscsi, fc }: Volume): FieldError[] {
  const isTooLong = iscsi?.initiatorName !== undefined && isInterfaceNameTooLong(name, iscsi);
  return [
    ...(iscsi ? validateIscsi(`${path}.iscsi`, iscsi, UNKNOWN_FORM) : []),
    ...(isTooLong ? [invalid(`${path}.name`, name, INTERFACE_NAME_TOO_LONG)] : []),
    ...(fc ? validateFc(`${path}.fc`, fc) : []),
  ];
}

/** The problems of disks that a persistent volume of this name stands for. The paths are upstream's. */
export function validatePersistentDisk(
  path: string,
  { iscsi, fc }: Pick<PersistentVolumeSpec, "iscsi" | "fc">,
  volumeName: string,
): FieldError[] {
  return [
    ...(iscsi ? validatePersistentIscsi(`${path}.iscsi`, iscsi, volumeName) : []),
    ...(fc ? validateFc(`${path}.fc`, fc) : []),
  ];
}

function validatePersistentIscsi(path: string, iscsi: ISCSIPersistentVolumeSource, volumeName: string): FieldError[] {
  const { initiatorName, targetPortal, secretRef } = iscsi;
  const isTooLong = initiatorName !== undefined && isInterfaceNameTooLong(volumeName, iscsi);
  return [
    ...(isTooLong ? [invalid(`${path}.targetportal`, targetPortal, INTERFACE_NAME_TOO_LONG)] : []),
    ...validateIscsi(path, iscsi, BAD_FORM),
    ...(secretRef && !secretRef.name ? [required(`${path}.secretRef.name`)] : []),
  ];
}

/** The interface that is made for the initiator is called by both names. */
function isInterfaceNameTooLong(volumeName: string, { targetPortal }: { readonly targetPortal: string }): boolean {
  return Buffer.byteLength(`${volumeName}:${targetPortal}`) > MAX_INTERFACE_NAME_BYTES;
}

function validateIscsi(
  path: string,
  source: ISCSIVolumeSource | ISCSIPersistentVolumeSource,
  unknownForm: string,
): FieldError[] {
  const { targetPortal, iqn, lun, initiatorName, secretRef } = source;
  const needsSecret = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  return [
    ...(targetPortal === "" ? [required(`${path}.targetPortal`)] : []),
    ...(iqn === "" ? [required(`${path}.iqn`)] : validateName(`${path}.iqn`, iqn, unknownForm)),
    ...inRange(`${path}.lun`, lun, LUNS),
    ...(needsSecret && secretRef === undefined ? [required(`${path}.secretRef`)] : []),
    ...(initiatorName === undefined ? [] : validateName(`${path}.initiatorname`, initiatorName, unknownForm)),
  ];
}

function validateName(path: string, name: string, unknownForm: string): FieldError[] {
  const form = NAME_FORMS[name.slice(0, 3)];
  if (form === undefined) return [invalid(path, name, unknownForm)];
  return form.test(name) ? [] : [invalid(path, name, BAD_FORM)];
}

function validateFc(path: string, { targetWWNs = [], wwids = [], lun }: FCVolumeSource): FieldError[] {
  const isNamed = targetWWNs.length > 0 || wwids.length > 0;
  const isNamedTwice = targetWWNs.length > 0 && wwids.length > 0;
  const lunErrors =
    lun === undefined
      ? [required(`${path}.lun`, "lun is required if targetWWNs is specified")]
      : inRange(`${path}.lun`, lun, LUNS);
  return [
    ...(isNamed ? [] : [required(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both")]),
    ...(isNamedTwice
      ? [invalid(`${path}.targetWWNs`, targetWWNs, "targetWWNs and wwids can not be specified simultaneously")]
      : []),
    ...(targetWWNs.length > 0 ? lunErrors : []),
  ];
}
