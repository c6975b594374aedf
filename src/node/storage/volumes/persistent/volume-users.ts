import type { MountEntry } from "../../../../host/mounts-port.ts";
import { escapePluginName, type VolumeDirectories } from "../volume-directories.ts";
import { VolumeOperationError } from "../volume-error.ts";

/** A pod that waits until another pod is gone tries again after this time. */
const RETRY_MS = 2_000;

/** A volume, and the pod that wants to use it. */
interface UsedVolume {
  readonly pluginName: string;
  /** The name of the volume's directory in every pod that uses it. */
  readonly name: string;
  readonly directories: Pick<VolumeDirectories, "podUid" | "rootDirectory">;
}

/** Whether another pod has the volume mounted, even one that this process does not know of yet. */
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

/** Another pod uses the volume. The words are those of `GenerateMountVolumeFunc` (pkg/volume/util/operationexecutor). */
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
