import { throwJoined } from "../../../base/errors.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { Files } from "../../../host/port.ts";
import { escapePluginName, type VolumeDirectories } from "./volume-directories.ts";
import type { VolumePlace, VolumePlugin } from "./volume-plugin.ts";

interface TearDownDeps {
  files: Files;
  mounts: Pick<Mounts, "unmount">;
  plugins: readonly VolumePlugin[];
}

interface FoundPlace extends VolumePlace {
  /** The plugin's name as it stands in the path. */
  readonly pluginDirectory: string;
}

/**
 * Unmounts and removes all that is left of a pod's volumes, found by the pod's directories alone: each plugin tears its
 * own volumes down. All are tried; rejects, and leaves the directories, where one could not be torn down.
 */
export async function tearDownVolumes(
  deps: TearDownDeps,
  directories: VolumeDirectories,
  signal: AbortSignal | undefined,
): Promise<void> {
  const places = await findPlaces(deps.files, directories);
  const outcomes = await Promise.allSettled(places.map(async (place) => await tearDownPlace(deps, place, signal)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  throwJoined(failures, "volumes of the pod cannot be unmounted");
  for (const directory of [directories.notes, directories.devices, directories.volumes]) {
    await deps.files.remove(directory);
  }
}

/** Finds what is left of a pod's volumes. A link in a volume's place is left out: what it leads to is not the pod's. */
async function findPlaces(files: Files, { podUid, volumes, devices }: VolumeDirectories): Promise<FoundPlace[]> {
  const places: FoundPlace[] = [];
  for (const [kind, root] of [["files", volumes] as const, ["device", devices] as const]) {
    for (const pluginDirectory of await listDirectories(files, root)) {
      for (const { name, type } of await files.list(`${root}/${pluginDirectory}`)) {
        if (kind === "files" && type !== "directory") continue;
        places.push({ podUid, kind, pluginDirectory, directoryName: name, path: `${root}/${pluginDirectory}/${name}` });
      }
    }
  }
  return places;
}

async function listDirectories(files: Files, directory: string): Promise<string[]> {
  if ((await files.stat(directory)) === undefined) return [];
  return (await files.list(directory)).filter(({ type }) => type === "directory").map(({ name }) => name);
}

async function tearDownPlace(
  { files, mounts, plugins }: TearDownDeps,
  place: FoundPlace,
  signal: AbortSignal | undefined,
): Promise<void> {
  const plugin = plugins.find(({ name }) => escapePluginName(name) === place.pluginDirectory);
  if (plugin?.tearDown) return await plugin.tearDown(place, signal);
  // Another kubelet may have run here, with a plugin that we do not have. Its data is not ours to remove.
  if (place.kind === "device") return;
  await mounts.unmount(place.path);
  await files.removeEmptyDirectory(place.path);
}
