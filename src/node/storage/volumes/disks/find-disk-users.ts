import type { MountEntry, Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { escapePluginName } from "../volume-directories.ts";
import { diskUseKey } from "./disk-accounts.ts";
import type { DiskPlace } from "./named-disk.ts";
import { listIfThere, type ScsiDevices } from "./scsi-devices.ts";

interface FindDeps {
  readonly files: Pick<Files, "list">;
  readonly mounts: Pick<Mounts, "list">;
  readonly devices: Pick<ScsiDevices, "nameAt">;
}

/** Where pods' directories are, and of which plugin they are. */
interface PodPlaces {
  readonly rootDirectory: string;
  readonly pluginName: string;
}

/**
 * Finds who uses the disk of a place, as an earlier node agent has left it: by the mount table, because neither the pods'
 * directories nor the places say what belongs together (upstream's `ConstructVolumeSpec` does so, too).
 */
export async function findDiskUsers(deps: FindDeps, place: DiskPlace, where: PodPlaces): Promise<readonly string[]> {
  const table = await deps.mounts.list();
  return place.kind === "files" ? fileUsers(table, place, where) : await blockUsers(deps, table, { ...where, place });
}

function fileUsers(table: readonly MountEntry[], place: DiskPlace, where: PodPlaces): string[] {
  const shared = table.findLast(({ path }) => path === place.path);
  if (shared === undefined) return [];
  const pods = `${where.rootDirectory}/pods/`;
  const middle = `/volumes/${escapePluginName(where.pluginName)}/`;
  return table.flatMap(({ path, device, root }) => {
    if (!path.startsWith(pods) || device !== shared.device || root !== shared.root) return [];
    const [podUid = "", specName] = path.slice(pods.length).split(middle);
    // What lies deeper are parts of the volume.
    return specName === undefined || specName.includes("/") || podUid.includes("/")
      ? []
      : [diskUseKey(podUid, specName)];
  });
}

/** The pod whose name a file of the place has, under the volume's name of its link that leads to the same device. */
async function blockUsers(
  { files, devices }: FindDeps,
  table: readonly MountEntry[],
  { place, rootDirectory, pluginName }: PodPlaces & { readonly place: DiskPlace },
): Promise<string[]> {
  const users: string[] = [];
  for (const { path, root } of table) {
    if (!path.startsWith(`${place.path}/`)) continue;
    const podUid = path.slice(place.path.length + 1);
    const links = `${rootDirectory}/pods/${podUid}/volumeDevices/${escapePluginName(pluginName)}`;
    for (const { name, type } of await listIfThere(files, links)) {
      if (type !== "link") continue;
      const device = await devices.nameAt(`${links}/${name}`);
      if (device !== undefined && root.endsWith(`/${device}`)) users.push(diskUseKey(podUid, name));
    }
  }
  return users;
}
