import type { MountEntry } from "../../../../host/mounts-port.ts";
import { escapePluginName, type VolumeDirectories } from "../volume-directories.ts";
import { VolumeOperationError } from "../volume-error.ts";

/** A pod that has to wait until another is gone looks again this soon. */
const RETRY_MS = 2_000;

/** Which volume is meant, and by which pod. */
interface UsedVolume {
  readonly pluginName: string;
  /** Of its directory in every pod that uses it. */
  readonly name: string;
  readonly directories: Pick<VolumeDirectories, "podUid" | "rootDirectory">;
}

/** Whether another pod has it mounted, also one that this process has not heard of yet. */
export function isMountedByOther(
  mounts: readonly MountEntry[],
  { pluginName, name, directories }: UsedVolume,
): boolean {
  const pods = `${directories.rootDirectory}/pods/`;
  const beneath = `/volumes/${escapePluginName(pluginName)}/${name}`;
  return mounts.some(({ path }) => {
    return path.startsWith(pods) && path.endsWith(beneath) && path !== `${pods}${directories.podUid}${beneath}`;
  });
}

/**
 * Whether a volume with these access modes is for one pod at a time. It is only where ReadWriteOncePod is the only mode: of
 * several, nobody knows which one the pod meant.
 */
export function isForOnePod(accessModes: readonly string[] | undefined): boolean {
  return accessModes?.length === 1 && accessModes[0] === "ReadWriteOncePod";
}

/** In the words of `GenerateMountVolumeFunc` (pkg/volume/util/operationexecutor), where `step` is `MountVolume.SetUp`. */
export function inUseError(
  volumeName: string,
  step: "MountVolume.SetUp" | "MapVolume.SetUpDevice",
): VolumeOperationError {
  const message =
    `${step} failed for volume "${volumeName}" : ` +
    "volume uses the ReadWriteOncePod access mode and is already in use by another pod";
  const reason = step === "MountVolume.SetUp" ? "FailedMount" : "FailedMapVolume";
  return new VolumeOperationError(message, { reason, retryAfterMs: RETRY_MS });
}
