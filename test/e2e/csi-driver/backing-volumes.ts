import { existsSync } from "node:fs";
import { chmod, chown, lstat, mkdir, open, rm, rmdir, stat, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { refusal } from "../../../src/csi/fake/refusal.ts";
import type { CsiPublishRequest, CsiVolumeUse } from "../../../src/csi/port.ts";
import type { VolumeSpec } from "./control.ts";
import { bind, loopDevicesOf, run, unmountAll } from "./programs.ts";

/** The volumes behind the driver, as the machine can mount them. */
export interface BackingVolumes {
  /** Shows the volume's file system at an existing directory. Nothing is to be shown of a block device. */
  mount(volume: BackingVolume, path: string, use: CsiVolumeUse): Promise<void>;
  /** Shows what is staged, the volume itself, or its device, at a path that is made. */
  publish(volume: BackingVolume, request: CsiPublishRequest): Promise<void>;
  /** Unmounts; the path itself stays. */
  unmount(path: string): Promise<void>;
  /** Unmounts and removes the path. */
  unpublish(path: string): Promise<void>;
  /** Lets go of the loop devices that show it. */
  detach(volumeId: string): Promise<void>;
  /** Makes it as large as it says, while it is in use. */
  expand(volume: BackingVolume, use: { mountedAt: string; access: CsiVolumeUse["access"]["kind"] }): Promise<void>;
  remove(volumeId: string): Promise<void>;
}

export interface BackingVolume {
  readonly id: string;
  readonly kind: VolumeSpec["kind"];
  readonly sizeBytes: number;
}

/** Below `directory`, which exists. */
export function createBackingVolumes(directory: string): BackingVolumes {
  const imageOf = (id: string) => join(directory, `${encodeURIComponent(id)}.img`);
  const directoryOf = (id: string) => join(directory, encodeURIComponent(id));

  const ensureImage = async (volume: BackingVolume): Promise<string> => {
    if (volume.kind !== "image") throw refusal("invalid-argument", `volume ${volume.id} is no block device`);
    const path = imageOf(volume.id);
    await (await open(path, "a")).close();
    if ((await stat(path)).size === 0) await truncate(path, volume.sizeBytes);
    return path;
  };
  const mountImage = async (volume: BackingVolume, path: string, { access, accessMode }: CsiVolumeUse) => {
    const image = await ensureImage(volume);
    const isBlank = await run("blkid", "-p", image).then(
      () => false,
      () => true,
    );
    if (isBlank) await run("mkfs.ext4", "-q", "-F", image);
    const flags = access.kind === "mount" ? access.mountFlags : [];
    await run("mount", "-t", "ext4", "-o", ["loop", readOrWrite(accessMode), ...flags].join(","), image, path);
  };
  const volumes: BackingVolumes = {
    async mount(volume, path, use) {
      if (use.access.kind === "block") return void (await ensureImage(volume));
      await unmountAll(path);
      if (volume.kind === "image") await mountImage(volume, path, use);
      else if (volume.kind === "memory") {
        const options = [`size=${volume.sizeBytes}`, readOrWrite(use.accessMode), ...use.access.mountFlags];
        await run("mount", "-t", "tmpfs", "-o", options.join(","), "tmpfs", path);
      } else {
        await mkdir(directoryOf(volume.id), { recursive: true });
        const readOnly = use.access.mountFlags.includes("ro") || readOrWrite(use.accessMode) === "ro";
        await bind(directoryOf(volume.id), path, { readOnly });
      }
      if (use.access.mountGroup !== undefined) await giveToGroup(path, Number(use.access.mountGroup));
    },
    async publish(volume, { targetPath, stagingPath, use, readOnly }) {
      if (use.access.kind === "block") {
        const device = await attach(await ensureImage(volume), { readOnly });
        await (await open(targetPath, "a", 0o660)).close();
        return await bind(device, targetPath, { readOnly: false });
      }
      await mkdir(targetPath, { recursive: true, mode: 0o750 });
      if (stagingPath !== undefined) return await bind(stagingPath, targetPath, { readOnly });
      await volumes.mount(volume, targetPath, use);
      if (readOnly) await run("mount", "-o", "remount,bind,ro", targetPath);
    },
    unmount: unmountAll,
    async unpublish(path) {
      await unmountAll(path);
      const found = await lstat(path).catch(() => undefined);
      // Never recursively: whatever went wrong, no data is removed.
      if (found?.isDirectory()) await rmdir(path);
      else if (found) await unlink(path);
    },
    async detach(volumeId) {
      const image = imageOf(volumeId);
      if (!existsSync(image)) return;
      for (const device of await loopDevicesOf(image)) await run("losetup", "--detach", device);
    },
    async expand(volume, { mountedAt, access }) {
      if (volume.kind === "memory") await run("mount", "-o", `remount,size=${volume.sizeBytes}`, mountedAt);
      if (volume.kind !== "image") return;
      const image = await ensureImage(volume);
      await truncate(image, Math.max((await stat(image)).size, volume.sizeBytes));
      for (const device of await loopDevicesOf(image)) {
        await run("losetup", "--set-capacity", device);
        if (access === "mount") await run("resize2fs", device);
      }
    },
    async remove(volumeId) {
      await rm(imageOf(volumeId), { force: true });
      await rm(directoryOf(volumeId), { recursive: true, force: true });
    },
  };
  return volumes;
}

/** One device for all who write, one for all who only read: the device itself is what makes it read-only. */
async function attach(image: string, { readOnly }: { readOnly: boolean }): Promise<string> {
  for (const device of await loopDevicesOf(image)) {
    if ((await run("blockdev", "--getro", device)) === (readOnly ? "1" : "0")) return device;
  }
  return await run("losetup", ...(readOnly ? ["--read-only"] : []), "--find", "--show", image);
}

async function giveToGroup(path: string, group: number): Promise<void> {
  const { uid, mode } = await stat(path);
  await chown(path, uid, group);
  await chmod(path, (mode & 0o7777) | 0o2070);
}

function readOrWrite(accessMode: CsiVolumeUse["accessMode"]): "ro" | "rw" {
  return accessMode.endsWith("READER_ONLY") ? "ro" : "rw";
}
