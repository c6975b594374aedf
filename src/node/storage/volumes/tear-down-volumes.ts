import { codeOf, throwJoined } from "../../../base/errors.ts";
import type { Mounts } from "../../../host/mounts-port.ts";
import type { DirectoryEntry, Files } from "../../../host/port.ts";
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
  const devices = await findIn(deps.files, { ...directories, kind: "device", root: directories.devices });
  const volumes = await findIn(deps.files, { ...directories, kind: "files", root: directories.volumes });
  const places = [...volumes.places, ...devices.places];
  const outcomes = await Promise.allSettled(places.map(async (place) => await tearDownPlace(deps, place, signal)));
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  throwJoined(failures, "volumes of the pod cannot be unmounted");
  // Each is empty when its turn comes, which is the least to remove. The volumes' is the last: see `PodFiles`.
  for (const directory of [directories.notes, ...devices.directories, ...volumes.directories]) {
    await deps.files.remove(directory);
  }
}

interface Found {
  readonly places: readonly FoundPlace[];
  /** The directories of the plugins, and then the one that they are in. */
  readonly directories: readonly string[];
}

/** Finds what is left of a pod's volumes. A link in a volume's place is left out: what it leads to is not the pod's. */
async function findIn(
  files: Files,
  { podUid, kind, root }: Pick<FoundPlace, "podUid" | "kind"> & { readonly root: string },
): Promise<Found> {
  const plugins = await listIfThere(files, root);
  if (plugins === undefined) return { places: [], directories: [] };
  const places: FoundPlace[] = [];
  const directories: string[] = [];
  for (const { name: pluginDirectory, type: pluginType } of plugins) {
    if (pluginType !== "directory") continue;
    directories.push(`${root}/${pluginDirectory}`);
    for (const { name, type } of await files.list(`${root}/${pluginDirectory}`)) {
      if (kind === "files" && type !== "directory") continue;
      places.push({ podUid, kind, pluginDirectory, directoryName: name, path: `${root}/${pluginDirectory}/${name}` });
    }
  }
  return { places, directories: [...directories, root] };
}

async function listIfThere(files: Files, directory: string): Promise<DirectoryEntry[] | undefined> {
  try {
    return await files.list(directory);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
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
