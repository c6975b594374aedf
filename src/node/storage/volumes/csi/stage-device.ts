import { messageOf } from "../../../../base/errors.ts";
import type { CsiDriver, CsiVolumeUse } from "../../../../csi/port.ts";
import { isFinalCsiError } from "../../../../csi/port.ts";
import { missingDriver, tearDownError } from "./csi-failure.ts";
import type { CsiPaths, DevicePlace } from "./csi-paths.ts";
import { VOLUME_DATA_FILE } from "./csi-paths.ts";
import type { CsiFiles, CsiPluginDeps } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import type { Device } from "./devices.ts";
import { DIRECTORY_MODE } from "./directory-mode.ts";
import { unpublishLeftBehind } from "./publish-block.ts";
import { writeVolumeData } from "./volume-data.ts";

/** Stages volumes, once for all pods that use them. For each volume, calls come one at a time. */
export interface DeviceStaging {
  /** Records the device on the disk, so that all that is done for it from now on can be undone after a restart. */
  record(device: Device, volume: CsiVolume, seLinuxLabel: string | undefined): Promise<void>;
  /** Does nothing where the device is staged already. */
  stage(device: Device, request: StageRequest): Promise<void>;
  /** Undoes what was staged or may have been. Does nothing where the device is absent. No pod may use the device. */
  unstage(device: Device, request: UnstageRequest): Promise<void>;
}

interface StageRequest {
  readonly volume: CsiVolume;
  readonly driver: CsiDriver;
  readonly use: CsiVolumeUse;
  readonly seLinuxLabel: string | undefined;
  readonly publishContext: Readonly<Record<string, string>>;
  /** Called only where the driver stages volumes. */
  readonly secrets: () => Promise<Readonly<Record<string, string>>>;
  readonly signal: AbortSignal;
}

interface UnstageRequest {
  /** Runs after the unstage, and before the record of the device is removed. */
  readonly end: () => Promise<void>;
  readonly signal: AbortSignal;
}

type StagingDeps = Pick<CsiPluginDeps, "drivers" | "files" | "log" | "mounts"> & {
  readonly paths: CsiPaths;
  readonly nodeName: string;
};

export function createDeviceStaging(deps: StagingDeps): DeviceStaging {
  const { files } = deps;

  const record: DeviceStaging["record"] = async (device, volume, seLinuxLabel) => {
    device.state = { kind: "uncertain", seLinuxLabel };
    await makeDirectories(files, [...directoriesAbove(deps.paths, device), ...[...device.place.after].reverse()]);
    await writeVolumeData(files, device.place.dataDirectory, {
      ...(device.place.kind === "block" && { specVolID: volume.specName }),
      driverName: volume.driverName,
      volumeHandle: volume.handle,
      ...(device.place.kind === "block" && { nodeName: deps.nodeName, attachmentID: device.attachmentName }),
      ...(seLinuxLabel !== undefined && { seLinuxMountContext: seLinuxLabel }),
    });
  };

  return {
    record,
    async stage(device, request) {
      if (device.state.kind === "staged") return;
      const { volume, driver, seLinuxLabel } = request;
      const isStaging = driver.capabilities.has("STAGE_UNSTAGE_VOLUME");
      const secrets = isStaging ? await request.secrets() : {};
      const wasAbsent = device.state.kind === "absent";
      await record(device, volume, seLinuxLabel);
      // Upstream makes it even for drivers that do not stage, and finds the volume by it.
      await files.makeDirectory(device.place.stagingPath, DIRECTORY_MODE);
      if (isStaging) await callStage(deps, device, { ...request, secrets, wasAbsent });
      device.state = { kind: "staged", seLinuxLabel };
    },
    async unstage(device, { end, signal }) {
      if (device.state.kind === "absent") return;
      const { driverName, handle, place } = device;
      const driver = deps.drivers.get(driverName);
      if (driver === undefined) {
        throw missingDriver("attacher.UnmountDevice failed to create newCsiDriverClient", driverName);
      }
      device.state = { kind: "uncertain", seLinuxLabel: device.state.seLinuxLabel };
      await refuseMounted(deps.mounts, place);
      const call = { signal };
      if (place.kind === "block") {
        await unpublishLeftBehind(deps, place, async (targetPath) => {
          await driver.node.unpublish({ volumeId: handle, targetPath }, call);
        });
      }
      if (driver.capabilities.has("STAGE_UNSTAGE_VOLUME")) {
        await driver.node.unstage({ volumeId: handle, stagingPath: place.stagingPath }, call);
      }
      if (await deps.mounts.isMountPoint(place.stagingPath)) {
        throw tearDownError(`attacher.UnmountDevice: the driver has left something mounted at ${place.stagingPath}`);
      }
      await end();
      device.state = { kind: "absent" };
      try {
        await removeDevice(files, place);
      } catch (error) {
        // The volume may leave the node all the same; the next start of the agent finds the directory and tries again.
        deps.log.warn("a driver has left something in a directory of its volume", {
          path: place.stagingPath,
          error: messageOf(error),
        });
      }
    },
  };
}

async function callStage(
  { files, mounts }: StagingDeps,
  device: Device,
  request: Omit<StageRequest, "secrets"> & { secrets: Readonly<Record<string, string>>; wasAbsent: boolean },
): Promise<void> {
  const { volume, driver, use, publishContext, secrets, signal, wasAbsent } = request;
  const { stagingPath } = device.place;
  try {
    await driver.node.stage(
      { volumeId: volume.handle, publishContext, stagingPath, use, secrets, volumeContext: volume.attributes },
      { signal },
    );
  } catch (error) {
    // Only the first attempt is known to have left nothing. A refusal does not undo what an earlier attempt has left.
    if (wasAbsent && isFinalCsiError(error) && !(await mounts.isMountPoint(stagingPath))) {
      await removeDevice(files, device.place);
      device.state = { kind: "absent" };
    }
    throw error;
  }
}

/** Removes the device's directories, innermost first. Only empty ones go: what a driver left is not ours to remove. */
async function removeDevice(files: CsiFiles, { before, dataDirectory, after }: DevicePlace): Promise<void> {
  for (const directory of before) await files.removeEmptyDirectory(directory);
  await files.remove(`${dataDirectory}/${VOLUME_DATA_FILE}`);
  for (const directory of after) await files.removeEmptyDirectory(directory);
}

/**
 * Refuses to go on while the staged file system is also mounted elsewhere, through bind mounts that the agent does not know
 * of: then somebody uses it (upstream's GetDeviceMountRefs).
 */
async function refuseMounted(mounts: StagingDeps["mounts"], { kind, stagingPath }: DevicePlace): Promise<void> {
  if (kind === "block") return;
  const entries = await mounts.list();
  const staged = entries.filter(({ path }) => path === stagingPath).at(-1);
  if (staged === undefined) return;
  const others = entries.filter(
    ({ path, device, root }) => path !== stagingPath && device === staged.device && root === staged.root,
  );
  if (others.length === 0) return;
  const paths = others.map(({ path }) => path).join(" ");
  throw tearDownError(`the device mount path "${stagingPath}" is still mounted by other references [${paths}]`);
}

/** kubelet's own directories above the device. Each is made by itself, so that each gets the right mode. */
function directoriesAbove(paths: CsiPaths, { place, driverName }: Device): string[] {
  const kubernetes = paths.plugin.slice(0, paths.plugin.lastIndexOf("/"));
  if (place.kind === "files") return [kubernetes, paths.plugin, `${paths.plugin}/${driverName}`];
  return [kubernetes, paths.plugin, paths.blocks, `${paths.blocks}/staging`, `${paths.blocks}/publish`];
}

async function makeDirectories(files: CsiFiles, directories: readonly string[]): Promise<void> {
  for (const directory of directories) {
    if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, DIRECTORY_MODE);
  }
}
