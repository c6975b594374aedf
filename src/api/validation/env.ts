import type { FieldError } from "../field-error.ts";
import type {
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  Volume,
} from "../gen/types.ts";
import {
  checkConfigMapKey,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvName,
  checkLocalPath,
  checkQualifiedName,
} from "./names.ts";
import { each, invalid, invalidEach, notFound, required, unsupported } from "./problems.ts";

/** Validates names, and that each variable has one source at most. */
export function validateEnv(path: string, env: EnvVar[] | undefined): FieldError[] {
  return each(path, env, ({ name, value, valueFrom }, envPath) => [
    ...(name === "" ? [required(`${envPath}.name`)] : invalidEach(`${envPath}.name`, name, checkEnvName(name))),
    ...(valueFrom ? validateValueFrom(`${envPath}.valueFrom`, valueFrom, value ?? "") : []),
  ]);
}

function validateValueFrom(path: string, source: EnvVarSource, value: string): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  const count = Object.keys(source).length;
  const errors: FieldError[] = [];
  if (count === 0) {
    const kinds = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
    errors.push(invalid(path, "", `must specify one of: ${kinds}`));
  } else if (value !== "") errors.push(invalid(path, "", "may not be specified when `value` is not empty"));
  else if (count > 1) errors.push(invalid(path, "", "may not have more than one field specified at a time"));
  if (fieldRef) errors.push(...validateFieldRef(`${path}.fieldRef`, fieldRef, ENV_FIELDS));
  if (resourceFieldRef) errors.push(...validateResourceFieldRef(`${path}.resourceFieldRef`, resourceFieldRef));
  if (configMapKeyRef) errors.push(...validateKeyRef(`${path}.configMapKeyRef`, configMapKeyRef));
  if (secretKeyRef) errors.push(...validateKeyRef(`${path}.secretKeyRef`, secretKeyRef));
  if (fileKeyRef) errors.push(...validateFileKeyRef(`${path}.fileKeyRef`, fileKeyRef));
  return errors;
}

function validateFileKeyRef(path: string, { volumeName, path: file, key }: FileKeySelector): FieldError[] {
  const errors = key === "" ? [required(`${path}.key`)] : invalidEach(`${path}.key`, key, checkEnvName(key));
  if (volumeName === "") errors.push(required(`${path}.volumeName`));
  else errors.push(...invalidEach(`${path}.volumeName`, volumeName, checkDnsLabel(volumeName)));
  if (file === "") errors.push(required(`${path}.path`));
  else errors.push(...invalidEach(`${path}.path`, file, checkLocalPath(file)));
  return errors;
}

/** Validates that files with variables are in volumes of the pod that containers fill: an emptyDir. */
export function validateEnvFileVolumes(
  path: string,
  env: EnvVar[] | undefined,
  volumes: readonly Volume[],
): FieldError[] {
  return each(path, env, ({ valueFrom }, envPath) => {
    const { volumeName = "" } = valueFrom?.fileKeyRef ?? {};
    if (volumeName === "") return [];
    const place = `${envPath}.valueFrom.fileKeyRef.volumeName`;
    const volume = volumes.find(({ name }) => name === volumeName);
    if (volume === undefined) return [notFound(place, volumeName)];
    return volume.emptyDir ? [] : [invalid(place, volumeName, "referenced volume must be of type emptyDir")];
  });
}

const ENV_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** The fields that the downward API's files may show. */
export const VOLUME_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.labels",
  "metadata.annotations",
  "metadata.uid",
];

/** The fields by which pods can be selected are known, although some can be shown nowhere. */
const SELECTABLE_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  "spec.restartPolicy",
  "spec.schedulerName",
  "spec.hostNetwork",
  "status.phase",
  "status.nominatedNodeName",
]);

/** Validates that the reference names a field of `allowed`; labels and annotations are named with their key. */
export function validateFieldRef(
  path: string,
  { apiVersion, fieldPath }: ObjectFieldSelector,
  supported: readonly string[],
): FieldError[] {
  if (!apiVersion) return [required(`${path}.apiVersion`)];
  if (fieldPath === "") return [required(`${path}.fieldPath`)];
  if (apiVersion !== "v1") return [invalid(`${path}.apiVersion`, apiVersion, "must be v1")];
  const subscript = /^(metadata\.(?:labels|annotations))\['(.*)'\]$/s.exec(fieldPath);
  if (subscript) return invalidEach(path, subscript[2], checkQualifiedName((subscript[2] ?? "").toLowerCase()));
  if (supported.includes(fieldPath)) return [];
  if (SELECTABLE_FIELDS.has(fieldPath)) return [unsupported(`${path}.fieldPath`, fieldPath, supported)];
  const detail = `error converting fieldPath: field label not supported: ${fieldPath}`;
  return [invalid(`${path}.fieldPath`, fieldPath, detail)];
}

const RESOURCE_FIELDS = ["limits", "requests"].flatMap((list) =>
  ["cpu", "ephemeral-storage", "memory"].map((name) => `${list}.${name}`),
);

/** Validates a reference to a resource of a container, with a divisor that makes sense for it. */
export function validateResourceFieldRef(path: string, selector: ResourceFieldSelector): FieldError[] {
  const { resource, divisor = "0" } = selector;
  if (resource === "") return [required(`${path}.resource`)];
  const isHugePages = /^(?:limits|requests)\.hugepages-./.test(resource);
  if (!isHugePages && !RESOURCE_FIELDS.includes(resource)) {
    return [unsupported(`${path}.resource`, resource, RESOURCE_FIELDS)];
  }
  const { name, divisors } = divisorsOf(resource);
  if (divisor === "0" || divisors.includes(divisor)) return [];
  const detail = `only divisor's values ${divisors.join(name === "cpu" ? " and " : ", ")} are supported with the ${name} resource`;
  return [invalid(`${path}.divisor`, resource, detail)];
}

const BYTE_DIVISORS = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/** Returns the divisors that are allowed for a resource, and the resource's name in upstream's message about them. */
function divisorsOf(resource: string): { name: string; divisors: readonly string[] } {
  const name = resource.replace(/^(?:limits|requests)\./, "");
  if (name === "cpu") return { name, divisors: ["1m", "1"] };
  if (name === "memory") return { name, divisors: BYTE_DIVISORS };
  return { name: name === "ephemeral-storage" ? "local ephemeral storage" : "hugepages", divisors: BYTE_DIVISORS };
}

function validateKeyRef(path: string, { name, key }: { name?: string; key: string }): FieldError[] {
  return [
    ...validateName(`${path}.name`, name),
    ...(key === "" ? [required(`${path}.key`)] : invalidEach(`${path}.key`, key, checkConfigMapKey(key))),
  ];
}

function validateName(path: string, name = ""): FieldError[] {
  return name === "" ? [required(path)] : invalidEach(path, name, checkDnsSubdomain(name));
}

/** Validates that each entry names exactly one config map or secret. */
export function validateEnvFrom(path: string, envFrom: EnvFromSource[] | undefined): FieldError[] {
  return each(path, envFrom, ({ prefix = "", configMapRef, secretRef }, sourcePath) => {
    const errors = prefix === "" ? [] : invalidEach(`${sourcePath}.prefix`, prefix, checkEnvName(prefix));
    for (const [field, reference] of Object.entries({ configMapRef, secretRef })) {
      if (reference) errors.push(...validateName(`${sourcePath}.${field}.name`, reference.name));
    }
    if (!configMapRef && !secretRef)
      errors.push(invalid(sourcePath, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (configMapRef && secretRef)
      errors.push(invalid(sourcePath, "", "may not have more than one field specified at a time"));
    return errors;
  });
}
