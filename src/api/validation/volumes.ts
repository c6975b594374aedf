import type { FieldError } from "../field-error.ts";
import type {
  CSIVolumeSource,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodSpec,
  Volume,
  VolumeProjection,
} from "../gen/types.ts";
import { parseQuantity } from "../quantity.ts";
import { validateClaimTemplate } from "./claim.ts";
import { validateCloudSource } from "./cloud-sources.ts";
import { validateDiskSource } from "./disk-sources.ts";
import { VOLUME_FIELDS, validateFieldRef, validateResourceFieldRef } from "./env.ts";
import { checkDnsLabel, checkDnsSubdomain, checkLocalPath, checkNoBacksteps } from "./names.ts";
import { podCertificatePaths, validatePodCertificate } from "./pod-certificate.ts";
import { duplicate, each, forbidden, invalid, invalidEach, optionalOneOf, required, tooLong } from "./problems.ts";

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

/** Validates that names are unique, and that each volume has exactly one source, valid in itself. */
export function validateVolumes(path: string, { volumes }: PodSpec): FieldError[] {
  const names = new Set<string>();
  return each(path, volumes, (volume, volumePath) => {
    const { name } = volume;
    const errors = validateVolumeSource(volumePath, volume);
    if (name === "") return [...errors, required(`${volumePath}.name`)];
    const problems = invalidEach(`${volumePath}.name`, name, checkDnsLabel(name));
    if (names.has(name)) problems.push(duplicate(`${volumePath}.name`, name));
    names.add(name);
    return [...errors, ...problems];
  });
}

/** True for a volume whose name and source are valid in themselves. */
export function isSoundVolume(volume: Volume): boolean {
  return checkDnsLabel(volume.name).length === 0 && validateVolumeSource("", volume).length === 0;
}

function validateVolumeSource(path: string, volume: Volume): FieldError[] {
  const kinds = Object.keys(volume).filter((field) => field !== "name");
  if (kinds.length === 0) return [required(path, "must specify a volume type")];
  const surplus = kinds.slice(1).map((kind) => forbidden(`${path}.${kind}`, "may not specify more than 1 volume type"));
  return [
    ...surplus,
    ...validateLocalSource(path, volume),
    ...validateApiSource(path, volume),
    ...validateRemoteSource(path, volume),
    ...validateDiskSource(path, volume),
    ...validateCloudSource(path, volume),
  ];
}

/** Validates the sources that the node alone provides. */
function validateLocalSource(path: string, { emptyDir, hostPath, image, gitRepo }: Volume): FieldError[] {
  const errors: FieldError[] = [];
  const isNegative = (parseQuantity(emptyDir?.sizeLimit ?? "0")?.nanos ?? 0n) < 0n;
  if (isNegative) {
    errors.push(forbidden(`${path}.emptyDir.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  }
  if (hostPath) {
    if (hostPath.path === "") errors.push(required(`${path}.hostPath.path`));
    errors.push(...invalidEach(`${path}.hostPath.path`, hostPath.path, checkNoBacksteps(hostPath.path)));
    errors.push(...optionalOneOf(`${path}.hostPath.type`, hostPath.type, HOST_PATH_TYPES));
  }
  if (image) {
    if (!image.reference) errors.push(required(`${path}.image.reference`));
    errors.push(...optionalOneOf(`${path}.image.pullPolicy`, image.pullPolicy, ["Always", "IfNotPresent", "Never"]));
  }
  if (gitRepo) {
    if (gitRepo.repository === "") errors.push(required(`${path}.gitRepo.repository`));
    const { directory = "" } = gitRepo;
    errors.push(...invalidEach(`${path}.gitRepo.directory`, directory, checkLocalPath(directory)));
  }
  return errors;
}

/** Validates the sources that are made of objects of the API. */
function validateApiSource(
  path: string,
  { secret, configMap, downwardAPI, projected, ephemeral }: Volume,
): FieldError[] {
  const errors: FieldError[] = [];
  if (secret) {
    if (!secret.secretName) errors.push(required(`${path}.secret.secretName`));
    errors.push(...validateMode(`${path}.secret.defaultMode`, secret.defaultMode));
    errors.push(...validateItems(`${path}.secret.items`, secret.items));
  }
  if (configMap) {
    if (!configMap.name) errors.push(required(`${path}.configMap.name`));
    errors.push(...validateMode(`${path}.configMap.defaultMode`, configMap.defaultMode));
    errors.push(...validateItems(`${path}.configMap.items`, configMap.items));
  }
  if (downwardAPI) {
    errors.push(...validateMode(`${path}.downwardAPI.defaultMode`, downwardAPI.defaultMode));
    errors.push(...validateDownwardItems(`${path}.downwardAPI.items`, downwardAPI.items));
  }
  if (projected) {
    errors.push(...validateMode(`${path}.projected.defaultMode`, projected.defaultMode));
    errors.push(...each(`${path}.projected.sources`, projected.sources, validateProjection));
    errors.push(...validateProjectedPaths(`${path}.projected`, projected.sources ?? []));
  }
  if (ephemeral) {
    const at = `${path}.ephemeral.volumeClaimTemplate`;
    const { volumeClaimTemplate: template } = ephemeral;
    errors.push(...(template ? validateClaimTemplate(at, template) : [required(at)]));
  }
  return errors;
}

function validateRemoteSource(path: string, { nfs, persistentVolumeClaim, csi }: Volume): FieldError[] {
  const errors: FieldError[] = [];
  if (nfs) {
    if (nfs.server === "") errors.push(required(`${path}.nfs.server`));
    if (nfs.path === "") errors.push(required(`${path}.nfs.path`));
    else if (!nfs.path.startsWith("/")) errors.push(invalid(`${path}.nfs.path`, nfs.path, "must be an absolute path"));
  }
  if (persistentVolumeClaim?.claimName === "") errors.push(required(`${path}.persistentVolumeClaim.claimName`));
  return csi ? [...errors, ...validateCsi(`${path}.csi`, csi)] : errors;
}

function validateCsi(path: string, { driver, nodePublishSecretRef }: CSIVolumeSource): FieldError[] {
  const errors = driver === "" ? [required(`${path}.driver`)] : validateDriverName(`${path}.driver`, driver);
  if (!nodePublishSecretRef) return errors;
  const { name = "" } = nodePublishSecretRef;
  if (name === "") return [...errors, required(`${path}.nodePublishSecretRef.name`)];
  // The path is upstream's.
  return [...errors, ...invalidEach(`${path}.name`, name, checkDnsSubdomain(name))];
}

const MAX_DRIVER_NAME_BYTES = 63;

/** Drivers' names may have upper case letters, which subdomains may not have. */
function validateDriverName(path: string, driver: string): FieldError[] {
  const isTooLong = Buffer.byteLength(driver) > MAX_DRIVER_NAME_BYTES;
  return [
    ...(isTooLong ? [tooLong(path, MAX_DRIVER_NAME_BYTES)] : []),
    ...invalidEach(path, driver, checkDnsSubdomain(driver.toLowerCase())),
  ];
}

/** Two sources cannot fill one file. The value in the message is the one that upstream shows. */
function validateProjectedPaths(path: string, sources: readonly VolumeProjection[]): FieldError[] {
  const taken = new Set<string>();
  return sources.flatMap(({ secret, configMap, downwardAPI, podCertificate }) => {
    const files = [
      ...(secret?.items ?? []).map((item) => ({ target: item.path, shown: secret?.name ?? "" })),
      ...(configMap?.items ?? []).map((item) => ({ target: item.path, shown: configMap?.name ?? "" })),
      ...(downwardAPI?.items ?? []).map((item) => ({ target: item.path, shown: item.path })),
      ...(podCertificate ? podCertificatePaths(podCertificate) : []).map((target) => ({ target, shown: target })),
    ];
    return files.flatMap(({ target, shown }) => {
      const isTaken = target !== "" && taken.has(target);
      taken.add(target);
      return isTaken ? [invalid(path, shown, "conflicting duplicate paths")] : [];
    });
  });
}

/** A projection must have exactly one kind of source, like a volume. */
function validateProjection(projection: VolumeProjection, path: string): FieldError[] {
  const kinds = Object.keys(projection);
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = projection;
  const errors = kinds
    .slice(1)
    .map((kind) => forbidden(`${path}.${kind}`, "may not specify more than 1 volume type per source"));
  if (secret && !secret.name) errors.push(required(`${path}.secret.name`));
  errors.push(...validateItems(`${path}.secret.items`, secret?.items));
  if (configMap && !configMap.name) errors.push(required(`${path}.configMap.name`));
  errors.push(...validateItems(`${path}.configMap.items`, configMap?.items));
  errors.push(...validateDownwardItems(`${path}.downwardAPI.items`, downwardAPI?.items));
  if (serviceAccountToken) {
    const { expirationSeconds = 600 } = serviceAccountToken;
    const tokenPath = `${path}.serviceAccountToken`;
    if (expirationSeconds < 600) {
      errors.push(
        invalid(`${tokenPath}.expirationSeconds`, expirationSeconds, "may not specify a duration less than 10 minutes"),
      );
    }
    errors.push(...validateTargetPath(`${tokenPath}.path`, serviceAccountToken.path));
  }
  if (clusterTrustBundle)
    errors.push(...validateTargetPath(`${path}.clusterTrustBundle.path`, clusterTrustBundle.path));
  if (podCertificate) errors.push(...validatePodCertificate(`${path}.podCertificate`, podCertificate));
  return errors;
}

function validateItems(path: string, items: KeyToPath[] | undefined): FieldError[] {
  return each(path, items, ({ key, path: target, mode }, itemPath) => [
    ...(key === "" ? [required(`${itemPath}.key`)] : []),
    ...validateTargetPath(`${itemPath}.path`, target),
    ...validateMode(`${itemPath}.mode`, mode),
  ]);
}

function validateDownwardItems(path: string, items: DownwardAPIVolumeFile[] | undefined): FieldError[] {
  return each(path, items, ({ path: target, fieldRef, resourceFieldRef, mode }, itemPath) => {
    const errors = validateTargetPath(`${itemPath}.path`, target);
    if (fieldRef && resourceFieldRef)
      errors.push(invalid(itemPath, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    if (!fieldRef && !resourceFieldRef)
      errors.push(required(itemPath, "one of fieldRef and resourceFieldRef is required"));
    if (fieldRef) errors.push(...validateFieldRef(`${itemPath}.fieldRef`, fieldRef, VOLUME_FIELDS));
    if (resourceFieldRef) {
      if (!resourceFieldRef.containerName) errors.push(required(`${itemPath}.resourceFieldRef.containerName`));
      errors.push(...validateResourceFieldRef(`${itemPath}.resourceFieldRef`, resourceFieldRef));
    }
    return [...errors, ...validateMode(`${itemPath}.mode`, mode)];
  });
}

/** Validates a file's path in the volume; names that start with `..` are the kubelet's own. */
function validateTargetPath(path: string, target: string): FieldError[] {
  if (target === "") return [required(path)];
  const problems = checkLocalPath(target);
  if (problems.length === 0 && target.startsWith("..")) problems.push("must not start with '..'");
  return invalidEach(path, target, problems);
}

function validateMode(path: string, mode: number | undefined): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= 0o777)) return [];
  return [invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}
