import { attachmentName, CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { isAbort } from "../../../../base/abort.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeSetUpError } from "../volume-error.ts";
import type { ReadyVolume } from "../volume-plugin.ts";
import { inStep } from "./csi-failure.ts";
import type { CsiPaths } from "./csi-paths.ts";
import type { CsiPluginDeps, CsiPluginOptions } from "./csi-ports.ts";
import type { Device } from "./devices.ts";
import { computeVolumeUse, needsGroupChange } from "./driver-policy.ts";
import { expandVolume } from "./expand-volume.ts";
import { type MountWork, type PreparedDevice, STEPS } from "./prepare-device.ts";
import { publishBlock } from "./publish-block.ts";
import { type PublishRequest, podVolumeData, publishFiles, targetPathIn } from "./publish-files.ts";
import { readPublishInputs } from "./publish-inputs.ts";
import type { MeasuredVolume } from "./volume-stats.ts";

/** A volume that is mounted for a pod. */
export interface MountedVolume extends MeasuredVolume {
  readonly ready: ReadyVolume;
  readonly prepared: PreparedDevice;
  /** See `expandVolume`. */
  size: string | undefined;
  /** When a failed expansion may be tried again, by the monotonic clock. */
  expandAfter?: number;
}

type MountDeps = CsiPluginDeps & { readonly paths: CsiPaths; readonly options: CsiPluginOptions };

/** Publishes a volume to its pod, and sets its group, label and size. The caller holds the lock of the volume. */
export async function mountVolume(
  deps: MountDeps,
  work: MountWork,
  { device, prepared = inlineDevice(work) }: { device: Device | undefined; prepared: PreparedDevice | undefined },
): Promise<MountedVolume> {
  const { volume } = work;
  const { publish, expand } = STEPS[volume.kind];
  const ready = await inStep(publish, volume, async () => await publishVolume(deps, work, { device, prepared }));
  const mounted: MountedVolume = {
    volume,
    volumePath: ready.volumePath,
    ready: ready.volume,
    prepared,
    size: undefined,
  };
  mounted.size = await inStep(expand, volume, async () => await growVolume(deps, work, mounted));
  return mounted;
}

/** See `expandVolume`. */
export async function growVolume(
  deps: MountDeps,
  work: MountWork,
  mounted: MountedVolume,
): Promise<string | undefined> {
  const { volume, driver, request } = work;
  const { use, stagingPath } = mounted.prepared;
  return await expandVolume(deps, {
    pod: request.pod,
    volume,
    driver,
    use,
    volumePath: mounted.volumePath,
    stagingPath,
    nodeName: deps.options.nodeName,
    knownSize: mounted.size,
    signal: request.signal,
  });
}

/** Publishes a published volume again, because its driver asks for that to update tokens and content. */
export async function republishVolume(deps: MountDeps, work: MountWork, mounted: MountedVolume): Promise<void> {
  const { publish } = STEPS[work.volume.kind];
  const { prepared } = mounted;
  await inStep(publish, work.volume, async () => await publishVolume(deps, work, { device: undefined, prepared }));
}

interface PublishedVolume {
  readonly volume: ReadyVolume;
  readonly volumePath: string;
}

async function publishVolume(
  deps: MountDeps,
  work: MountWork,
  { device, prepared }: { device: Device | undefined; prepared: PreparedDevice },
): Promise<PublishedVolume> {
  const { request, volume, driver, driverObject, key, podUid } = work;
  const { pod, signal } = request;
  const inputs = await readPublishInputs(deps.objects, { volume, pod, driver: driverObject }, signal);
  const publish: PublishRequest = { ...prepared, volume, driver, inputs, signal };
  const trace = device?.users.get(key) ?? { isOnDisk: true };
  if (volume.kind === "block") {
    const place = deps.paths.block(volume.specName);
    const link = request.directories.deviceOf(CSI_PLUGIN, volume.specName);
    await publishBlock(deps, { place, podUid, link }, { ...publish, trace });
    const volumePath = `${place.publishDirectory}/${podUid}`;
    return { volumePath, volume: { kind: "device", hostPath: link, readOnly: volume.readOnly } };
  }
  const directory = request.directories.of(CSI_PLUGIN, volume.specName);
  await publishFiles(deps, directory, { ...publish, trace, data: dataOf(deps, work, prepared) });
  const hostPath = targetPathIn(directory);
  await changeGroup(deps, work, hostPath);
  const relabel = prepared.seLinuxLabel === undefined && (await needsRelabel(deps, work, hostPath));
  return { volumePath: hostPath, volume: { kind: "files", hostPath, readOnly: volume.readOnly, relabel } };
}

async function changeGroup({ files }: MountDeps, work: MountWork, path: string): Promise<void> {
  const { volume, driver, driverObject, request } = work;
  const { fsGroup, fsGroupChangePolicy } = request.pod.spec?.securityContext ?? {};
  if (fsGroup === undefined || !needsGroupChange(driverObject, volume, driver.capabilities)) return;
  const onlyIfRootDiffers = fsGroupChangePolicy === "OnRootMismatch";
  try {
    await files.changeGroup(path, { group: fsGroup, readOnly: volume.readOnly, onlyIfRootDiffers }, request.signal);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new VolumeSetUpError("failed", `applyFSGroup failed for vol ${volume.handle}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Whether the runtime shall label the volume: only a file system that keeps labels, and that the pod may write to. */
async function needsRelabel({ mounts, options }: MountDeps, { volume }: MountWork, path: string): Promise<boolean> {
  if (!options.seLinuxEnabled || volume.readOnly) return false;
  const entry = (await mounts.list()).filter((mount) => mount.path === path).at(-1);
  return entry?.options.includes("seclabel") === true;
}

function dataOf({ options: { nodeName } }: MountDeps, { volume }: MountWork, { seLinuxLabel }: PreparedDevice) {
  const attachment = attachmentName({ driver: volume.driverName, volumeHandle: volume.handle }, nodeName);
  return podVolumeData(volume, { nodeName, attachmentName: attachment, seLinuxLabel });
}

/** An inline volume is published only, so there is nothing to prepare. */
function inlineDevice({ volume, driver, request }: MountWork): PreparedDevice {
  const fsGroup = request.pod.spec?.securityContext?.fsGroup;
  const use = computeVolumeUse(volume, driver.capabilities, { fsGroup, seLinuxLabel: undefined });
  return { use, seLinuxLabel: undefined, publishContext: {}, stagingPath: undefined };
}
