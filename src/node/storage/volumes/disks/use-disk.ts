import { MINUTE } from "../../../../base/clock.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { inStep } from "../csi/csi-failure.ts";
import { ensureDirectories } from "../persistent/ensure-directories.ts";
import { giveToGroup, type VolumeGroupDeps } from "../persistent/volume-group.ts";
import { inUseError, isForOnePod } from "../persistent/volume-users.ts";
import type { ReadyVolume, VolumePlace, VolumeRequest } from "../volume-plugin.ts";
import type { DiskAccount } from "./disk-accounts.ts";
import { detachLoops, type LoopDeps } from "./loop-devices.ts";
import type { DiskKind, NamedDisk } from "./named-disk.ts";

export interface UseDiskDeps extends VolumeGroupDeps, LoopDeps {
  readonly files: VolumeGroupDeps["files"] &
    LoopDeps["files"] &
    Pick<Files, "link" | "makeDirectory" | "remove" | "removeEmptyDirectory" | "stat" | "touch">;
  readonly mounts: Pick<Mounts, "bind" | "formatAndMount" | "isMountPoint" | "unmount">;
}

/** A pod's use of a disk that is about to begin. The caller holds the lock of the place. */
interface DiskUseRequest {
  readonly kind: DiskKind;
  readonly request: VolumeRequest;
  readonly disk: NamedDisk;
  readonly account: DiskAccount;
  /** The use's key in the account. */
  readonly key: string;
}

/** The check of a large disk, and the format of a new one, take a while. */
const MOUNT_TIMEOUT_MS = 10 * MINUTE;
const MAP_MODE = 0o640;

const STEPS = {
  files: {
    attach: "MountVolume.WaitForAttach failed",
    bring: "MountVolume.MountDevice failed",
    give: "MountVolume.SetUp failed",
  },
  block: {
    attach: "MapVolume.WaitForAttach failed",
    bring: "MapVolume.MapBlockVolume failed",
    give: "MapVolume.MapBlockVolume failed",
  },
} as const;

/** Mounts the disk once for all pods, and shows it in the pod's directory. May be repeated. */
export async function mountDisk(deps: UseDiskDeps, use: DiskUseRequest): Promise<ReadyVolume> {
  const { kind, request, disk, account } = use;
  const { directories, pod, signal } = request;
  const target = directories.of(kind.pluginName, disk.specName);
  const readOnly = disk.readOnly || disk.mountOptions.includes("ro");
  const isRepeated = await deps.mounts.isMountPoint(target);
  if (!isRepeated) {
    refuseSecondPod(use, "MountVolume.SetUp");
    await ensureMounted(deps, use);
    await inStep(STEPS.files.give, disk, async () => {
      noteOnDisk(use);
      await ensureDirectories(deps.files, directories.rootDirectory, target);
      await deps.mounts.bind(account.place.path, target, { readOnly });
    });
  }
  if (!readOnly) {
    await giveToGroup(deps, { pod, path: target, isRepeated }, signal).catch(async (error: unknown) => {
      // The next attempt starts anew: the root may have the right group already, while files below it have not.
      if (!isRepeated) await deps.mounts.unmount(target).catch(() => undefined);
      throw error;
    });
  }
  return { kind: "files", hostPath: target, readOnly: disk.readOnly, relabel: true };
}

async function ensureMounted(deps: UseDiskDeps, { kind, request, disk, account }: DiskUseRequest): Promise<void> {
  const { path } = account.place;
  if (await deps.mounts.isMountPoint(path)) return;
  const { signal, directories } = request;
  const source = await inStep(STEPS.files.attach, disk, async () => {
    await ensureDirectories(deps.files, directories.rootDirectory, path);
    return await kind.attach(request, account.place);
  });
  const options = [...new Set([...(disk.readOnly ? ["ro"] : []), ...disk.mountOptions])];
  const mount = { source, target: path, type: disk.fsType, options, timeoutMs: MOUNT_TIMEOUT_MS };
  await inStep(STEPS.files.bring, disk, async () => await deps.mounts.formatAndMount(mount, signal));
}

/** Maps the disk's device for the pod, by upstream's way (pkg/volume/util/volumepathhandler). May be repeated. */
export async function mapDisk(deps: UseDiskDeps, use: DiskUseRequest): Promise<ReadyVolume> {
  const { kind, request, disk, account } = use;
  const { directories } = request;
  const { path } = account.place;
  const link = directories.deviceOf(kind.pluginName, disk.specName);
  const map = `${path}/${directories.podUid}`;
  const isRepeated = await deps.mounts.isMountPoint(map);
  if (!isRepeated) refuseSecondPod(use, "MapVolume.SetUpDevice");
  const device = await inStep(STEPS.block.attach, disk, async () => {
    await ensureDirectories(deps.files, directories.rootDirectory, path);
    return await kind.attach(request, account.place);
  });
  await inStep(STEPS.block.bring, disk, async () => {
    // A tear-down finds the volume by the link, so the link is made first and removed last.
    noteOnDisk(use);
    await ensureDirectories(deps.files, directories.rootDirectory, link.slice(0, link.lastIndexOf("/")));
    await deps.files.link(device, link);
    if (isRepeated) return;
    await deps.files.touch(map, MAP_MODE);
    await deps.mounts.bind(device, map);
  });
  return { kind: "device", hostPath: link, readOnly: disk.readOnly };
}

/** Takes the volume from the pod. The disk stays, for other pods or until somebody sweeps. */
export async function undoUse(
  deps: UseDiskDeps,
  { podUid, path, kind }: VolumePlace,
  accounts: readonly DiskAccount[],
): Promise<void> {
  if (kind === "files") {
    await deps.mounts.unmount(path);
    await deps.files.removeEmptyDirectory(path);
    return;
  }
  for (const { place } of accounts) await unmap(deps, `${place.path}/${podUid}`);
  await deps.files.remove(path);
}

/** Takes a device away from where it is mapped for a pod. */
export async function unmap(deps: UseDiskDeps, map: string): Promise<void> {
  await detachLoops(deps, map);
  await deps.mounts.unmount(map);
  await deps.files.remove(map);
}

/** From here on only a tear-down ends the use, which finds the volume by its directory. */
function noteOnDisk({ account, key }: DiskUseRequest): void {
  const user = account.users.get(key);
  if (user) user.isOnDisk = true;
}

function refuseSecondPod({ disk, account, key }: DiskUseRequest, step: "MountVolume.SetUp" | "MapVolume.SetUpDevice") {
  if (!isForOnePod(disk.accessModes)) return;
  const others = [...account.users].filter(([other]) => other !== key);
  if (others.some(([, { isOnDisk }]) => isOnDisk)) throw inUseError(disk.specName, step);
}
