import type { CSIDriver, Pod, SELinuxOptions } from "../../../../api/gen/types.ts";
import { podContainers } from "../../../../api/pods.ts";
import { isForOnePod } from "../persistent/volume-users.ts";
import type { CsiVolume } from "./csi-volume.ts";

/** The parts of the label that container-selinux gives to containers' files, where the pod does not set them. */
const FILE_USER = "system_u";
const FILE_ROLE = "object_r";
const FILE_TYPE = "container_file_t";

/**
 * The label to mount the volume with, which saves a walk over all its files; undefined where the runtime has to label the
 * files (pkg/volume/util/selinux.go). Where the pod's options name no level, the runtime chooses one, unknown here.
 */
export function computeMountLabel(
  driver: CSIDriver | undefined,
  volume: CsiVolume,
  { pod, volumeName, anyAccessMode }: { pod: Pod; volumeName: string; anyAccessMode: boolean },
): string | undefined {
  if (driver?.spec.seLinuxMount !== true || volume.kind === "block" || volume.claimed === undefined) return undefined;
  if (pod.spec?.securityContext?.seLinuxChangePolicy === "Recursive") return undefined;
  if (!anyAccessMode && !isForOnePod(volume.accessModes)) return undefined;
  const ofPod = pod.spec?.securityContext?.seLinuxOptions;
  const labels = podContainers(pod)
    .filter(({ container }) => container.volumeMounts?.some(({ name }) => name === volumeName) === true)
    .map(({ container }) => fileLabel(container.securityContext?.seLinuxOptions ?? ofPod));
  const [label, ...others] = new Set(labels);
  return others.length === 0 ? label : undefined;
}

function fileLabel(options: SELinuxOptions | undefined): string | undefined {
  const level = options?.level ?? "";
  return level === "" ? undefined : `${options?.user || FILE_USER}:${FILE_ROLE}:${FILE_TYPE}:${level}`;
}
