import type { VolumePlace } from "../volume-plugin.ts";
import { inStep, tearDownError } from "./csi-failure.ts";
import type { BlockPlace } from "./csi-paths.ts";
import { userKey, volumeKey } from "./devices.ts";
import type { PluginParts } from "./plugin-parts.ts";
import { STEPS } from "./prepare-device.ts";
import { unpublishBlock } from "./publish-block.ts";
import { type PodVolumeDirectory, readPodVolume, unpublishFiles } from "./publish-files.ts";
import { readVolumeData } from "./volume-data.ts";

/** Takes a volume from a pod, by what the disk says of it. The device is unstaged later, by the sweep. */
export async function tearDownVolume(
  parts: PluginParts,
  place: VolumePlace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { devices } = parts;
  const specName = place.directoryName;
  await devices.load();
  const kind = place.kind === "device" ? "block" : "files";
  const onEmpty = () => devices.release(userKey(place.podUid, specName));
  const how = { onEmpty, ...(signal && { signal }) };
  await inStep(STEPS[kind].undo, { specName, kind }, async () => {
    await (kind === "block" ? tearDownBlock(parts, place, how) : tearDownFiles(parts, place, how));
  });
  onEmpty();
}

type TearDown = Omit<PodVolumeDirectory, "path">;

async function tearDownFiles(parts: PluginParts, { path }: VolumePlace, how: TearDown): Promise<void> {
  const directory = { path, ...how };
  const data = await readPodVolume(parts, directory);
  if (data === undefined) return;
  const key = volumeKey({ driverName: data.driverName, handle: data.volumeHandle });
  await parts.lock.run(key, async () => await unpublishFiles(parts, directory, data));
}

async function tearDownBlock(
  parts: PluginParts,
  { podUid, directoryName, path }: VolumePlace,
  { onEmpty: onUnpublished, ...call }: TearDown,
): Promise<void> {
  const { files, lock, paths } = parts;
  const place = paths.block(directoryName);
  const data = await readVolumeData(files, place.dataDirectory);
  if (data === undefined) {
    await refusePublished(parts, place, podUid);
    onUnpublished();
    await files.remove(path);
    return;
  }
  const key = volumeKey({ driverName: data.driverName, handle: data.volumeHandle });
  await lock.run(
    key,
    async () => await unpublishBlock(parts, { place, podUid, link: path, onUnpublished, ...call }, data),
  );
}

/** Rejects while something is published without data, because nobody knows which driver to ask. */
async function refusePublished(
  { files }: PluginParts,
  { publishDirectory }: BlockPlace,
  podUid: string,
): Promise<void> {
  const publishPath = `${publishDirectory}/${podUid}`;
  if ((await files.stat(publishPath)) === undefined) return;
  throw tearDownError(`${publishPath} is published by a driver that is not known any more`);
}
