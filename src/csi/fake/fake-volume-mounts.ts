import type { CsiPublishRequest, CsiStageRequest } from "../port.ts";

/**
 * The part of a machine that the fake driver needs. `Files` and `Mounts` of a host provide it, also those of the fake
 * host.
 */
export interface FakeVolumeMounts {
  readonly files: {
    makeDirectory(path: string, mode: number): Promise<void>;
    touch(path: string, mode: number): Promise<void>;
    remove(path: string): Promise<void>;
    removeEmptyDirectory(path: string): Promise<void>;
  };
  readonly mounts: {
    isMountPoint(path: string): Promise<boolean>;
    bind(source: string, target: string, options?: { readOnly?: boolean }): Promise<void>;
    unmount(path: string): Promise<void>;
  };
  /** The directory of the volumes' contents on that machine, by their ids. */
  readonly dataDirectory: string;
}

/** Shows a volume, a directory or (for a block device) a file of its data directory, at the staging path. */
export async function mountStaged(host: FakeVolumeMounts, { volumeId, stagingPath, use }: CsiStageRequest) {
  // Staging a block device makes nothing visible.
  if (use.access.kind === "block") return;
  await mountOnce(host, await makeVolume(host, volumeId), stagingPath);
}

/** Shows the staged volume, or the volume itself, at the target path, which is made. */
export async function mountPublished(host: FakeVolumeMounts, request: CsiPublishRequest): Promise<void> {
  const { volumeId, targetPath, readOnly } = request;
  if (request.use.access.kind === "block") {
    const device = `${host.dataDirectory}/${volumeId}.block`;
    await host.files.makeDirectory(host.dataDirectory, 0o755);
    await host.files.touch(device, 0o660);
    await host.files.touch(targetPath, 0o660);
    return await mountOnce(host, device, targetPath, readOnly);
  }
  const source = request.stagingPath ?? (await makeVolume(host, volumeId));
  await host.files.makeDirectory(targetPath, 0o750);
  await mountOnce(host, source, targetPath, readOnly);
}

/** Unmounts the path, and removes it if it is the driver's own. */
export async function unmountPath(
  { files, mounts }: FakeVolumeMounts,
  path: string,
  { remove }: { remove: "nothing" | "directory" | "file" },
): Promise<void> {
  await mounts.unmount(path);
  if (remove === "directory") await files.removeEmptyDirectory(path);
  if (remove === "file") await files.remove(path);
}

async function makeVolume({ dataDirectory, files }: FakeVolumeMounts, volumeId: string): Promise<string> {
  const path = `${dataDirectory}/${volumeId}`;
  await files.makeDirectory(path, 0o755);
  return path;
}

/** A driver that died between a mount and its note of it finds the mount when it starts again. */
async function mountOnce({ mounts }: FakeVolumeMounts, source: string, target: string, readOnly = false) {
  if (await mounts.isMountPoint(target)) await mounts.unmount(target);
  await mounts.bind(source, target, { readOnly });
}
