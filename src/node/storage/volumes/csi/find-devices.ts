import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { codeOf, messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { Files } from "../../../../host/port.ts";
import { escapePluginName } from "../volume-directories.ts";
import type { CsiPaths, DevicePlace } from "./csi-paths.ts";
import { readVolumeData, type VolumeData, VolumeDataError } from "./volume-data.ts";

/** A directory of a device with its data; without data, the driver was never called for it. */
interface FoundDevice {
  readonly place: DevicePlace;
  readonly data: VolumeData | undefined;
}

/** A pod's directory of a volume, or its link to a device. */
interface FoundUser {
  readonly podUid: string;
  readonly specName: string;
  readonly kind: DevicePlace["kind"];
  /** Undefined for a link, because the device's own data names the volume. */
  readonly data: VolumeData | undefined;
}

/** All that was found in the directories of pods and plugins. */
export interface FoundOnDisk {
  readonly devices: readonly FoundDevice[];
  /** Directories of devices whose data cannot be read. Something was begun there, and only the users' data may tell what. */
  readonly unreadable: ReadonlySet<string>;
  readonly users: readonly FoundUser[];
}

interface FindDeps {
  readonly files: Pick<Files, "list" | "read">;
  readonly paths: CsiPaths;
  readonly log: Log;
  /** True: what cannot be read is left out and hides no other volume. False: it rejects, for a later try may succeed. */
  readonly skipsUnreadable: boolean;
}

/** Finds the CSI volumes that earlier node agents, ours or others, have left. Malformed data is always left out. */
export async function findOnDisk(deps: FindDeps): Promise<FoundOnDisk> {
  const users: FoundUser[] = [];
  for (const podUid of await listNames(deps, deps.paths.pods)) {
    users.push(...(await findFileUsers(deps, podUid)), ...(await findBlockUsers(deps, podUid)));
  }
  const unreadable = new Set<string>();
  const devices = [...(await findFileDevices(deps, unreadable)), ...(await findBlockDevices(deps, unreadable))];
  return { devices, unreadable, users };
}

async function findFileUsers(deps: FindDeps, podUid: string): Promise<FoundUser[]> {
  const directory = deps.paths.podVolume(podUid, "").slice(0, -1);
  const users: FoundUser[] = [];
  for (const specName of await listNames(deps, directory)) {
    const data = await readIfGood(deps, `${directory}/${specName}`);
    if (typeof data !== "object" || data.volumeLifecycleMode === "Ephemeral") continue;
    users.push({ podUid, specName, kind: "files", data });
  }
  return users;
}

async function findBlockUsers(deps: FindDeps, podUid: string): Promise<FoundUser[]> {
  const directory = `${deps.paths.pods}/${podUid}/volumeDevices/${escapePluginName(CSI_PLUGIN)}`;
  const names = await listNames(deps, directory, "link");
  return names.map((specName) => ({ podUid, specName, kind: "block", data: undefined }));
}

async function findFileDevices(deps: FindDeps, unreadable: Set<string>): Promise<FoundDevice[]> {
  const { plugin, blocks, deviceIn } = deps.paths;
  const devices: FoundDevice[] = [];
  for (const driver of await listNames(deps, plugin)) {
    if (`${plugin}/${driver}` === blocks) continue;
    for (const name of await listNames(deps, `${plugin}/${driver}`)) {
      const place = deviceIn(`${plugin}/${driver}/${name}`);
      const data = await readIfGood(deps, place.dataDirectory);
      if (data === "unreadable") unreadable.add(place.dataDirectory);
      else devices.push({ place, data });
    }
  }
  return devices;
}

async function findBlockDevices(deps: FindDeps, unreadable: Set<string>): Promise<FoundDevice[]> {
  const devices: FoundDevice[] = [];
  for (const specName of await listNames(deps, deps.paths.blocks)) {
    // Two directories beside those of the volumes hold parts of all volumes.
    if (specName === "publish" || specName === "staging") continue;
    const place = deps.paths.block(specName);
    const data = await readIfGood(deps, place.dataDirectory);
    if (data === "unreadable") unreadable.add(place.dataDirectory);
    else devices.push({ place, data });
  }
  return devices;
}

/** Reads a volume's data. `unreadable`: nobody can say which volume it is of; it is left alone, and an error is logged. */
async function readIfGood(
  { files, log, skipsUnreadable }: FindDeps,
  directory: string,
): Promise<VolumeData | undefined | "unreadable"> {
  try {
    return await readVolumeData(files, directory);
  } catch (error) {
    const isMalformed = error instanceof VolumeDataError && error.code === "malformed";
    if (!isMalformed && !skipsUnreadable) throw error;
    log.error("data of a volume cannot be read; it is left as it is", { path: directory, error: messageOf(error) });
    return "unreadable";
  }
}

async function listNames(
  { files }: FindDeps,
  directory: string,
  type: "directory" | "link" = "directory",
): Promise<string[]> {
  try {
    return (await files.list(directory)).filter((entry) => entry.type === type).map(({ name }) => name);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw error;
  }
}
