import type { FieldError } from "../field-error.ts";
import type { EnvFromSource, EnvVar, EnvVarSource, ObjectFieldSelector, ResourceFieldSelector } from "../gen/types.ts";
import { checkConfigMapKey, checkEnvName, checkLocalPath, checkQualifiedName } from "./names.ts";
import { each, invalid, invalidEach, required, unsupported } from "./problems.ts";

/** Names, and that each variable has one source at most. */
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
  if (fileKeyRef) {
    const filePath = `${path}.fileKeyRef`;
    if (fileKeyRef.volumeName === "") errors.push(required(`${filePath}.volumeName`));
    if (fileKeyRef.path === "") errors.push(required(`${filePath}.path`));
    errors.push(...invalidEach(`${filePath}.path`, fileKeyRef.path, checkLocalPath(fileKeyRef.path)));
    if (fileKeyRef.key === "") errors.push(required(`${filePath}.key`));
  }
  return errors;
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
/** Fields that the downward API's files may show. */
export const VOLUME_FIELDS = [
  "metadata.name",
  "metadata.namespace",
  "metadata.labels",
  "metadata.annotations",
  "metadata.uid",
];

/** Only the fields of `allowed` may be referred to; labels and annotations by their key. */
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
  return supported.includes(fieldPath) ? [] : [unsupported(`${path}.fieldPath`, fieldPath, supported)];
}

const RESOURCE_FIELDS = ["limits", "requests"].flatMap((list) =>
  ["cpu", "memory", "ephemeral-storage"].map((name) => `${list}.${name}`),
);

/** A resource of a container, with a divisor that makes sense for it. */
export function validateResourceFieldRef(path: string, { resource }: ResourceFieldSelector): FieldError[] {
  if (resource === "") return [required(`${path}.resource`)];
  const isHugePages = /^(?:limits|requests)\.hugepages-./.test(resource);
  return isHugePages || RESOURCE_FIELDS.includes(resource)
    ? []
    : [unsupported(`${path}.resource`, resource, RESOURCE_FIELDS)];
}

function validateKeyRef(path: string, { name = "", key }: { name?: string; key: string }): FieldError[] {
  return [
    ...(name === "" ? [required(`${path}.name`)] : []),
    ...(key === "" ? [required(`${path}.key`)] : invalidEach(`${path}.key`, key, checkConfigMapKey(key))),
  ];
}

/** Each entry names exactly one config map or secret. */
export function validateEnvFrom(path: string, envFrom: EnvFromSource[] | undefined): FieldError[] {
  return each(path, envFrom, ({ prefix = "", configMapRef, secretRef }, sourcePath) => {
    const errors = prefix === "" ? [] : invalidEach(`${sourcePath}.prefix`, prefix, checkEnvName(prefix));
    if (configMapRef && !configMapRef.name) errors.push(required(`${sourcePath}.configMapRef.name`));
    if (secretRef && !secretRef.name) errors.push(required(`${sourcePath}.secretRef.name`));
    if (!configMapRef && !secretRef)
      errors.push(invalid(sourcePath, "", "must specify one of: `configMapRef` or `secretRef`"));
    if (configMapRef && secretRef)
      errors.push(invalid(sourcePath, "", "may not have more than one field specified at a time"));
    return errors;
  });
}
