import type { FieldError } from "../../../../api/field-error.ts";
import type {
  CSIPersistentVolumeSource,
  HostPathVolumeSource,
  LocalVolumeSource,
  NFSVolumeSource,
  PersistentVolumeSpec,
} from "../../../../api/gen/types.ts";
import { validatePersistentDisk } from "../../../../api/validation/disk-sources.ts";
import { checkDnsLabel, checkDnsSubdomain, checkNoBacksteps } from "../../../../api/validation/names.ts";
import { forbidden, invalid, invalidEach, optionalOneOf, required } from "../../../../api/validation/problems.ts";
import { validateCsiDriverName } from "../../rules/csi-driver-name.ts";

/** The fields of the spec that are not a source of the volume. */
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

const HOST_PATH_TYPES = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** The sources of the volume's data by their kind. A valid volume has one. */
export function sourcesOf(spec: PersistentVolumeSpec): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([field]) => !OTHER_FIELDS.has(field)));
}

/** The problems of the volume's source. Sources that no node mounts any more are accepted as they are. */
export function validateSource(spec: PersistentVolumeSpec, volumeName: string): FieldError[] {
  const [source, ...more] = Object.keys(sourcesOf(spec));
  if (source === undefined) return [required("spec", "must specify a volume type")];
  const { hostPath, local, nfs, csi, nodeAffinity, persistentVolumeReclaimPolicy: policy } = spec;
  const isLost = local !== undefined && nodeAffinity === undefined;
  const isRoot = hostPath !== undefined && /^\/+$/.test(hostPath.path);
  return [
    ...more.map((name) => forbidden(`spec.${name}`, "may not specify more than 1 volume type")),
    ...(hostPath ? validateHostPath("spec.hostPath", hostPath) : []),
    ...(local ? validateLocal("spec.local", local) : []),
    ...(isLost ? [required("spec.nodeAffinity", "Local volume requires node affinity")] : []),
    ...(nfs ? validateNfs("spec.nfs", nfs) : []),
    ...(csi ? validateCsi("spec.csi", csi) : []),
    ...validatePersistentDisk("spec", spec, volumeName),
    ...(isRoot && policy === "Recycle"
      ? [forbidden("spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
  ];
}

function validateHostPath(path: string, { path: directory, type }: HostPathVolumeSource): FieldError[] {
  if (directory === "") return [required(`${path}.path`)];
  return [
    ...invalidEach(`${path}.path`, directory, checkNoBacksteps(directory)),
    ...optionalOneOf(`${path}.type`, type, HOST_PATH_TYPES),
  ];
}

function validateLocal(path: string, { path: directory }: LocalVolumeSource): FieldError[] {
  if (directory === "") return [required(`${path}.path`)];
  return invalidEach(`${path}.path`, directory, checkNoBacksteps(directory));
}

function validateNfs(path: string, { server, path: directory }: NFSVolumeSource): FieldError[] {
  return [
    ...(server === "" ? [required(`${path}.server`)] : []),
    ...(directory === "" ? [required(`${path}.path`)] : []),
    ...(directory.startsWith("/") ? [] : [invalid(`${path}.path`, directory, "must be an absolute path")]),
  ];
}

function validateCsi(path: string, source: CSIPersistentVolumeSource): FieldError[] {
  const { controllerPublishSecretRef, controllerExpandSecretRef, nodePublishSecretRef, nodeExpandSecretRef } = source;
  const secrets = { controllerPublishSecretRef, controllerExpandSecretRef, nodePublishSecretRef, nodeExpandSecretRef };
  return [
    ...validateCsiDriverName(`${path}.driver`, source.driver),
    ...(source.volumeHandle === "" ? [required(`${path}.volumeHandle`)] : []),
    ...Object.entries(secrets).flatMap(([field, secret]) => {
      if (secret === undefined) return [];
      const { name = "", namespace = "" } = secret;
      return [
        ...(name === ""
          ? [required(`${path}.${field}.name`)]
          : invalidEach(`${path}.${field}.name`, name, checkDnsSubdomain(name))),
        ...(namespace === ""
          ? [required(`${path}.${field}.namespace`)]
          : invalidEach(`${path}.${field}.namespace`, namespace, checkDnsLabel(namespace))),
      ];
    }),
  ];
}
