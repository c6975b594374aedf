import type { Container, VolumeDevice, VolumeMount } from "../../../api/gen/types.ts";
import { type Device, type Mount, MountPropagation } from "../../../cri/gen/cri-v1.ts";
import { resolveRecursiveReadOnly } from "./recursive-read-only.ts";
import type { ReadyVolume } from "./volume-plugin.ts";

/** The fields of a CRI mount that a volume mount decides; the rest keeps its zero value. */
type VolumeMountConfig = Pick<
  Mount,
  "containerPath" | "readonly" | "recursiveReadOnly" | "propagation" | "selinuxRelabel"
>;

/** One of a container's `volumeMounts`, and the source that is to be mounted there. */
export interface PlannedMount {
  readonly volumeName: string;
  /** The mount's place in the container's `volumeMounts`. */
  readonly index: number;
  readonly config: VolumeMountConfig;
  readonly source: MountSource;
}

/** What is mounted: a whole volume, a part of one (`subPath`, not empty), or an image. */
type MountSource =
  | { readonly kind: "volume"; readonly hostPath: string }
  | { readonly kind: "sub-path"; readonly volume: FilesVolume; readonly subPath: string }
  /** The runtime mounts the image; `subPath` is a path below the image's root, or empty. */
  | { readonly kind: "image"; readonly subPath: string };

/** A volume that is a directory or a file of the host. */
export type FilesVolume = Extract<ReadyVolume, { kind: "files" }>;

/** Everything that a container's mounts depend on besides the container itself. */
export interface MountPlanInput {
  readonly volumes: ReadonlyMap<string, ReadyVolume>;
  /** Expands a `subPathExpr` with the container's environment. */
  expand(expression: string): Planned<string>;
  /** Whether the runtime handler of the pod's sandbox supports recursive read-only mounts. */
  readonly supportsRecursiveReadOnly: boolean;
  readonly seLinuxEnabled: boolean;
}

/** A result, or the message of a CreateContainerConfigError. */
export type Planned<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: string };

/** Plans a container's `volumeMounts`, in their order (pkg/kubelet/kubelet_pods.go, makeMounts). */
export function planVolumeMounts(container: Container, input: MountPlanInput): Planned<PlannedMount[]> {
  const mounts: PlannedMount[] = [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const planned = planMount(container.name, mount, input);
    if (!planned.ok) return planned;
    mounts.push({ volumeName: mount.name, index, ...planned.value });
  }
  return { ok: true, value: mounts };
}

/** Plans the block devices of a container's `volumeDevices`, in their order (makeBlockVolumes). */
export function planVolumeDevices(container: Container, volumes: ReadonlyMap<string, ReadyVolume>): Planned<Device[]> {
  const devices: Device[] = [];
  for (const device of container.volumeDevices ?? []) {
    const planned = planDevice(container.name, device, volumes.get(device.name));
    if (!planned.ok) return planned;
    devices.push(planned.value);
  }
  return { ok: true, value: devices };
}

function planMount(
  containerName: string,
  mount: VolumeMount,
  input: MountPlanInput,
): Planned<Pick<PlannedMount, "config" | "source">> {
  const volume = input.volumes.get(mount.name);
  if (volume === undefined || volume.kind === "device") {
    const why = volume === undefined ? "" : ": it is a block device, which belongs into volumeDevices";
    return fail(`cannot find volume "${mount.name}" to mount into container "${containerName}"${why}`);
  }
  const subPath = mount.subPathExpr ? input.expand(mount.subPathExpr) : succeed(mount.subPath ?? "");
  if (!subPath.ok) return subPath;
  const problem = findSubPathProblem(subPath.value);
  if (problem !== undefined) return fail(problem);
  const propagation = propagationOf(mount.mountPropagation);
  if (!propagation.ok) return propagation;
  const recursive = resolveRecursiveReadOnly(mount, input.supportsRecursiveReadOnly);
  if (!recursive.ok) return fail(`failed to resolve recursive read-only mode: ${recursive.error}`);
  const config = {
    containerPath: mount.mountPath.startsWith("/") ? mount.mountPath : `/${mount.mountPath}`,
    readonly: mount.readOnly === true || volume.kind === "image" || volume.readOnly,
    recursiveReadOnly: recursive.value,
    propagation: propagation.value,
    selinuxRelabel: volume.kind === "files" && volume.relabel && input.seLinuxEnabled,
  };
  return succeed({ config, source: sourceOf(volume, subPath.value) });
}

function sourceOf(volume: Exclude<ReadyVolume, { kind: "device" }>, subPath: string): MountSource {
  if (volume.kind === "image") return { kind: "image", subPath };
  return subPath === "" ? { kind: "volume", hostPath: volume.hostPath } : { kind: "sub-path", volume, subPath };
}

/** The API server refuses such paths in `subPath`, but an expanded `subPathExpr` may still contain them. */
function findSubPathProblem(subPath: string): string | undefined {
  if (subPath.startsWith("/")) return `error SubPath \`${subPath}\` must not be an absolute path`;
  if (!subPath.split("/").includes("..")) return undefined;
  return `unable to provision SubPath \`${subPath}\`: must not contain '..'`;
}

function propagationOf(mode: string | undefined): Planned<MountPropagation> {
  switch (mode) {
    case "Bidirectional":
      return succeed(MountPropagation.PROPAGATION_BIDIRECTIONAL);
    case "HostToContainer":
      return succeed(MountPropagation.PROPAGATION_HOST_TO_CONTAINER);
    case undefined:
    case "None":
      return succeed(MountPropagation.PROPAGATION_PRIVATE);
    default:
      return fail(`invalid MountPropagation mode: "${mode}"`);
  }
}

function planDevice(
  containerName: string,
  { name, devicePath }: VolumeDevice,
  volume: ReadyVolume | undefined,
): Planned<Device> {
  if (!devicePath.startsWith("/")) return fail(`error DevicePath \`${devicePath}\` must be an absolute path`);
  if (volume?.kind !== "device") {
    const why = volume === undefined ? "" : ": it is no block device, and belongs into volumeMounts";
    return fail(`cannot find volume "${name}" to pass into container "${containerName}"${why}`);
  }
  // `m` would let a container make the device's node anew with mknod, so only a container that may write gets it.
  return succeed({
    containerPath: devicePath,
    hostPath: volume.hostPath,
    permissions: volume.readOnly ? "r" : "mrw",
  });
}

function succeed<T>(value: T): Planned<T> {
  return { ok: true, value };
}

function fail(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}
