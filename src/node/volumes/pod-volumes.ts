import type { EmptyDirVolumeSource, HostPathVolumeSource, Pod, Volume } from "../../api/gen/types.ts";
import { podReference } from "../../api/pods.ts";
import { quantityValue } from "../../api/quantity.ts";
import { computePodLimits } from "../../api/resources.ts";
import type { Files, FileType } from "../../host/port.ts";

/** Sets up what a pod's volumes are on the host, and tears it down. Both may be repeated. */
export interface PodVolumes {
  /** The host path of every volume by its name. Rejects with VolumeError, naming the volume, when one cannot be had. */
  setUp(pod: Pod): Promise<ReadonlyMap<string, string>>;
  /** Removes what `setUp` made; host paths stay. */
  tearDown(uid: string): Promise<void>;
}

/** A volume that cannot be set up; the message is for the pod's FailedMount event. */
class VolumeError extends Error {
  override readonly name = "VolumeError";
}

/** World-writable, as kubelet makes it: containers of any user share it. */
const EMPTY_DIR_MODE = 0o777;
/** With `fsGroup`: what is made in the volume belongs to that group. */
const SET_GROUP_ID = 0o2000;

export function createPodVolumes(deps: { files: Files }, options: { rootDirectory: string }): PodVolumes {
  const { files } = deps;
  const volumesDirectory = (uid: string) => `${options.rootDirectory}/pods/${uid}/volumes`;
  const emptyDirs = (uid: string) => `${volumesDirectory(uid)}/kubernetes.io~empty-dir`;

  const setUpVolume = async (pod: Pod, volume: Volume): Promise<string> => {
    if (volume.hostPath) return await setUpHostPath(files, volume.name, volume.hostPath);
    if (volume.emptyDir) return await setUpEmptyDir(pod, volume.name, volume.emptyDir);
    throw new VolumeError(`volume "${volume.name}" is of a kind that this version cannot set up`);
  };

  const setUpEmptyDir = async (pod: Pod, name: string, source: EmptyDirVolumeSource): Promise<string> => {
    const { medium = "", sizeLimit } = source;
    if (medium !== "" && medium !== "Memory") {
      throw new VolumeError(`volume "${name}": emptyDir.medium "${medium}" is not supported yet`);
    }
    const path = `${emptyDirs(podReference(pod).uid)}/${name}`;
    if ((await files.stat(path)) === undefined) await files.makeDirectory(path, EMPTY_DIR_MODE);
    if (medium === "Memory") {
      const limit = sizeLimit ?? computePodLimits(pod)["memory"];
      await files.mountMemory(path, limit === undefined ? undefined : quantityValue(limit));
    }
    const group = pod.spec?.securityContext?.fsGroup;
    // Asked of the mode, so that a set-up that was cut short is finished, and what containers changed later stays.
    const isGiven = group === undefined || ((await files.stat(path))?.mode ?? 0) & SET_GROUP_ID;
    if (!isGiven) await files.setGroup(path, group, EMPTY_DIR_MODE | SET_GROUP_ID);
    return path;
  };

  return {
    async setUp(pod) {
      const paths = new Map<string, string>();
      for (const volume of pod.spec?.volumes ?? []) paths.set(volume.name, await setUpVolume(pod, volume));
      return paths;
    },
    async tearDown(uid) {
      const directory = emptyDirs(uid);
      const names = (await files.stat(directory)) === undefined ? [] : await files.list(directory);
      for (const { name } of names) await files.unmount(`${directory}/${name}`);
      await files.remove(volumesDirectory(uid));
    },
  };
}

const EXPECTED: Readonly<Record<string, { type: FileType; words: string }>> = {
  DirectoryOrCreate: { type: "directory", words: "a directory" },
  Directory: { type: "directory", words: "a directory" },
  FileOrCreate: { type: "file", words: "a file" },
  File: { type: "file", words: "a file" },
  Socket: { type: "socket", words: "a socket file" },
  CharDevice: { type: "character-device", words: "a character device" },
  BlockDevice: { type: "block-device", words: "a block device" },
};

async function setUpHostPath(files: Files, name: string, { path, type = "" }: HostPathVolumeSource): Promise<string> {
  if (type === "") return path;
  const expected = EXPECTED[type];
  if (expected === undefined) throw new VolumeError(`volume "${name}": unknown hostPath type "${type}"`);
  const found = await files.stat(path);
  if (found === undefined) {
    if (type === "DirectoryOrCreate") await files.makeDirectory(path, 0o755);
    else if (type === "FileOrCreate") await files.touch(path, 0o644);
    else throw new VolumeError(`volume "${name}": hostPath type check failed: ${path} does not exist`);
    return path;
  }
  if (found.type === expected.type) return path;
  throw new VolumeError(`volume "${name}": hostPath type check failed: ${path} is not ${expected.words}`);
}
