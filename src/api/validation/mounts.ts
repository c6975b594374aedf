import type { FieldError } from "../field-error.ts";
import type { Container, PodSpec, Volume, VolumeMount } from "../gen/types.ts";
import { checkLocalPath, checkNoBacksteps } from "./names.ts";
import { each, forbidden, invalid, invalidEach, notFound, optionalOneOf, required } from "./problems.ts";
import { isSoundVolume } from "./volumes.ts";

const PROPAGATIONS = ["Bidirectional", "HostToContainer", "None"];

/** The volumes that containers may name, by their names. */
export type MountableVolumes = ReadonlyMap<string, Volume>;

/** Looks through the pod's volumes, once for all containers. One that is wrong in itself is not there, as upstream. */
export function mountableVolumes({ volumes = [] }: PodSpec): MountableVolumes {
  return new Map(volumes.filter(isSoundVolume).map((volume) => [volume.name, volume]));
}

/** Validates a container's mounts and block devices: each names one of the volumes, and no two have the same place. */
export function validateMounts(path: string, container: Container, volumes: MountableVolumes): FieldError[] {
  const places = new Set<string>();
  const deviceNames = new Set((container.volumeDevices ?? []).map(({ name }) => name));
  const isPrivileged = container.securityContext?.privileged === true;
  const mounts = each(`${path}.volumeMounts`, container.volumeMounts, (mount, mountPath) => {
    const errors = validateMount(mountPath, mount, isPrivileged);
    if (mount.name !== "" && !volumes.has(mount.name)) errors.push(notFound(`${mountPath}.name`, mount.name));
    if (mount.mountPath !== "" && places.has(mount.mountPath)) {
      errors.push(invalid(`${mountPath}.mountPath`, mount.mountPath, "must be unique"));
    }
    places.add(mount.mountPath);
    if (deviceNames.has(mount.name)) {
      errors.push(invalid(`${mountPath}.name`, mount.name, "must not already exist in volumeDevices"));
    }
    return errors;
  });
  const devices = each(`${path}.volumeDevices`, container.volumeDevices, ({ name, devicePath }, place) => {
    const volume = volumes.get(name);
    const errors = validateDevicePath(`${place}.devicePath`, devicePath);
    if (name === "") errors.push(required(`${place}.name`));
    else if (!volume) errors.push(notFound(`${place}.name`, name));
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const rule = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
      errors.push(invalid(`${place}.name`, name, rule));
    }
    if (devicePath !== "" && places.has(devicePath))
      errors.push(invalid(`${place}.devicePath`, devicePath, "must be unique"));
    places.add(devicePath);
    return errors;
  });
  return [...mounts, ...devices];
}

function validateMount(path: string, mount: VolumeMount, isPrivileged: boolean): FieldError[] {
  const { name, mountPath, subPath = "", subPathExpr = "", mountPropagation, recursiveReadOnly } = mount;
  const errors: FieldError[] = [];
  if (name === "") errors.push(required(`${path}.name`));
  if (mountPath === "") errors.push(required(`${path}.mountPath`));
  errors.push(...invalidEach(`${path}.subPath`, subPath, checkLocalPath(subPath)));
  errors.push(...invalidEach(`${path}.subPathExpr`, subPathExpr, checkLocalPath(subPathExpr)));
  if (subPath !== "" && subPathExpr !== "") {
    errors.push(invalid(`${path}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive"));
  }
  errors.push(...optionalOneOf(`${path}.mountPropagation`, mountPropagation, PROPAGATIONS));
  if (mountPropagation === "Bidirectional" && !isPrivileged) {
    const rule = "Bidirectional mount propagation is available only to privileged containers";
    errors.push(forbidden(`${path}.mountPropagation`, rule));
  }
  if (recursiveReadOnly === undefined || recursiveReadOnly === "Disabled") return errors;
  const readOnlyPath = `${path}.recursiveReadOnly`;
  errors.push(...optionalOneOf(readOnlyPath, recursiveReadOnly, ["Disabled", "Enabled", "IfPossible"]));
  if (!mount.readOnly) errors.push(forbidden(readOnlyPath, "may only be specified when readOnly is true"));
  if (mountPropagation !== undefined && mountPropagation !== "None") {
    errors.push(forbidden(readOnlyPath, "may only be specified when mountPropagation is None or not specified"));
  }
  return errors;
}

function validateDevicePath(path: string, devicePath: string): FieldError[] {
  if (devicePath === "") return [required(path)];
  const hasBacksteps = checkNoBacksteps(devicePath).length > 0;
  return hasBacksteps ? [invalid(path, devicePath, "can not contain backsteps ('..')")] : [];
}
