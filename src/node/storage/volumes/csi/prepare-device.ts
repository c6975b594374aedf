import type { CSIDriver } from "../../../../api/gen/types.ts";
import type { CsiDriver, CsiVolumeUse } from "../../../../csi/port.ts";
import { isForOnePod } from "../persistent/volume-users.ts";
import type { VolumeRequest } from "../volume-plugin.ts";
import type { Attachments } from "./attachments.ts";
import { AwaitedError, inStep } from "./csi-failure.ts";
import type { CsiObjects } from "./csi-ports.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { type Device, type Devices, volumeKey } from "./devices.ts";
import { computeVolumeUse, isAttachable } from "./driver-policy.ts";
import { readSecret } from "./publish-inputs.ts";
import type { DeviceStaging } from "./stage-device.ts";

/** Everything that the set-up of a volume works with. */
export interface MountWork {
  readonly request: VolumeRequest;
  readonly volume: CsiVolume;
  /** The key of the pod's use of the volume; see `userKey`. */
  readonly key: string;
  readonly podUid: string;
  /** The driver's CSIDriver object; undefined where there is none. */
  readonly driverObject: CSIDriver | undefined;
  readonly driver: CsiDriver;
  /** The label that the volume shall be mounted with. */
  readonly seLinuxLabel: string | undefined;
}

/** A volume that is ready to be published to a pod. */
export interface PreparedDevice {
  readonly use: CsiVolumeUse;
  readonly seLinuxLabel: string | undefined;
  readonly publishContext: Readonly<Record<string, string>>;
  readonly stagingPath: string | undefined;
}

interface PrepareDeps {
  readonly devices: Devices;
  readonly staging: DeviceStaging;
  readonly attachments: Attachments;
  readonly objects: Pick<CsiObjects, "secret">;
  readonly enableControllerAttachDetach: boolean;
}

const NOTHING_TO_END = async (): Promise<void> => undefined;

/** Attaches and stages a persistent volume. The caller holds the lock of the volume. */
export async function prepareDevice(deps: PrepareDeps, device: Device, work: MountWork): Promise<PreparedDevice> {
  const { volume, driver, request } = work;
  const steps = STEPS[volume.kind];
  await inStep(steps.refused, volume, () => refuseSecondPod(deps.devices, work));
  const seLinuxLabel = await inStep(steps.refused, volume, async () => await settleLabel(deps, device, work));
  const publishContext = await inStep(steps.attach, volume, async () => await attach(deps, device, work, seLinuxLabel));
  const use = computeVolumeUse(volume, driver.capabilities, {
    fsGroup: request.pod.spec?.securityContext?.fsGroup,
    seLinuxLabel,
  });
  await inStep(steps.stage, volume, async () => {
    await deps.staging.stage(device, {
      volume,
      driver,
      use,
      seLinuxLabel,
      publishContext,
      secrets: async () => await readSecret(deps.objects, volume, "NodeStageSecretRef", request.signal),
      signal: request.signal,
    });
  });
  const stagingPath = driver.capabilities.has("STAGE_UNSTAGE_VOLUME") ? device.place.stagingPath : undefined;
  return { use, seLinuxLabel, publishContext, stagingPath };
}

/** How upstream's events name what failed. */
export const STEPS = {
  files: {
    refused: "MountVolume.SetUp failed",
    attach: "MountVolume.WaitForAttach failed",
    stage: "MountVolume.MountDevice failed",
    publish: "MountVolume.SetUp failed",
    expand: "MountVolume.Setup failed while expanding volume",
    undo: "UnmountVolume.TearDown failed",
  },
  block: {
    refused: "MapVolume.SetUpDevice failed",
    attach: "MapVolume.WaitForAttach failed",
    stage: "MapVolume.SetUpDevice failed",
    publish: "MapVolume.MapPodDevice failed",
    expand: "MapVolume.MarkVolumeAsMounted failed while expanding volume",
    undo: "UnmapVolume.UnmapPodDevice failed",
  },
} as const;

async function attach(
  { attachments, devices, staging, enableControllerAttachDetach }: PrepareDeps,
  device: Device,
  { volume, driverObject, request }: MountWork,
  seLinuxLabel: string | undefined,
): Promise<PreparedDevice["publishContext"]> {
  if (!isAttachable(driverObject, volume)) return {};
  // A volume that this node attaches itself must be detached too, even after a crash right after this line.
  if (!enableControllerAttachDetach && device.state.kind === "absent") {
    await staging.record(device, volume, seLinuxLabel);
  }
  const context = await attachments.ensure(device, volume, request.signal);
  device.isAttached = true;
  devices.changed();
  return context;
}

function refuseSecondPod(devices: Devices, { volume, podUid }: MountWork): void {
  if (!isForOnePod(volume.accessModes)) return;
  const isUsed = devices
    .all()
    .filter((device) => volumeKey(device) === volumeKey(volume))
    .some(({ users }) => [...users.values()].some((user) => user.isOnDisk && user.podUid !== podUid));
  if (isUsed) {
    throw new AwaitedError("volume uses the ReadWriteOncePod access mode and is already in use by another pod");
  }
}

/**
 * The label to mount with. One mount has one label: a pod that has the volume keeps its label, and a device that no pod has
 * on disk is staged anew with the new label.
 */
async function settleLabel(
  { staging }: PrepareDeps,
  device: Device,
  { volume, key, seLinuxLabel, request }: MountWork,
): Promise<string | undefined> {
  const { state, users } = device;
  if (state.kind === "absent" || state.seLinuxLabel === seLinuxLabel) return seLinuxLabel;
  if (users.get(key)?.isOnDisk === true) return state.seLinuxLabel;
  if ([...users.values()].some(({ isOnDisk }) => isOnDisk)) {
    const labels = `"${state.seLinuxLabel ?? ""}" and "${seLinuxLabel ?? ""}"`;
    throw new AwaitedError(`conflicting SELinux labels of volume ${volume.specName}: ${labels}`);
  }
  await staging.unstage(device, { end: NOTHING_TO_END, signal: request.signal });
  return seLinuxLabel;
}
