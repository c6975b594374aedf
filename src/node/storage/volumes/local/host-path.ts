import type { HostPathVolumeSource } from "../../../../api/gen/types.ts";
import type { FileType } from "../../../../host/file-type.ts";
import type { Files } from "../../../../host/port.ts";
import { inUseError, isForOnePod } from "../persistent/volume-users.ts";
import { VolumeOperationError, VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin, VolumeSource } from "../volume-plugin.ts";

type HostPathFiles = Pick<Files, "stat" | "makeDirectory" | "touch">;

const PLUGIN = "kubernetes.io/host-path";

/** Volumes that are paths of the machine, which are never removed with the pod. */
export function createHostPathPlugin({ files }: { files: HostPathFiles }): VolumePlugin {
  /** The pods that hold a persistent volume which is for one pod at a time, by the volume's name. */
  const holders = new Map<string, string>();

  const takeForPod = ({ persistentVolume }: Extract<VolumeSource, { kind: "persistent" }>, podUid: string) => {
    const name = persistentVolume.metadata?.name ?? "";
    if (persistentVolume.spec?.volumeMode === "Block") {
      const message = `MapVolume.FindMapperPluginBySpec failed for volume "${name}" : ${PLUGIN} has no block devices`;
      throw new VolumeOperationError(message, { reason: "FailedMapVolume" });
    }
    if (!isForOnePod(persistentVolume.spec?.accessModes)) return;
    // No mount tells after a restart which pod had the volume, so that the first pod that asks gets it.
    const holder = holders.get(name) ?? podUid;
    if (holder !== podUid) throw inUseError(name, "MountVolume.SetUp");
    holders.set(name, holder);
  };

  return {
    name: PLUGIN,
    supports: (source) => hostPathOf(source) !== undefined,
    async setUp({ source, directories }) {
      const hostPath = await findHostPath(files, hostPathOf(source) ?? { path: "" });
      if (source.kind === "persistent") takeForPod(source, directories.podUid);
      const readOnly = source.kind === "persistent" && source.readOnly;
      return { volume: { kind: "files", hostPath, readOnly, relabel: false }, finished: Promise.resolve() };
    },
    forget(podUid) {
      for (const [name, holder] of holders) if (holder === podUid) holders.delete(name);
    },
  };
}

function hostPathOf(source: VolumeSource): HostPathVolumeSource | undefined {
  return source.kind === "pod" ? source.volume.hostPath : source.persistentVolume.spec?.hostPath;
}

const EXPECTED: Readonly<Record<string, { type: FileType; words: string }>> = {
  DirectoryOrCreate: { type: "directory", words: "directory" },
  Directory: { type: "directory", words: "directory" },
  FileOrCreate: { type: "file", words: "file" },
  File: { type: "file", words: "file" },
  Socket: { type: "socket", words: "socket file" },
  CharDevice: { type: "character-device", words: "character device" },
  BlockDevice: { type: "block-device", words: "block device" },
};

/** The names that `hostPath.type` has for types of files. */
const TYPE_NAMES: Readonly<Partial<Record<FileType, string>>> = {
  directory: "Directory",
  file: "File",
  socket: "Socket",
  "character-device": "CharDevice",
  "block-device": "BlockDevice",
};

/**
 * Checks that the path is of the type that the pod expects, and returns it. Links are followed, so that what counts is what
 * the container will see. It follows pkg/volume/hostpath, but makes nothing where a link leads to nothing: otherwise
 * somebody who may plant links could have a file made anywhere.
 */
async function findHostPath(files: HostPathFiles, source: HostPathVolumeSource): Promise<string> {
  const { type = "" } = source;
  if (source.path.split("/").includes("..")) {
    throw new VolumeSetUpError("invalid", `invalid HostPath \`${source.path}\`: must not contain '..'`);
  }
  const path = source.path.startsWith("/") ? source.path : `/${source.path}`;
  if (type === "") return path;
  const expected = EXPECTED[type];
  if (expected === undefined) throw new VolumeSetUpError("invalid", `${type} is an invalid volume type`);
  const found = await files.stat(path);
  if (found === undefined) {
    if (type === "DirectoryOrCreate") await files.makeDirectory(path, 0o755);
    else if (type === "FileOrCreate") await files.touch(path, 0o644);
    else throw new VolumeSetUpError("missing", `hostPath ${path} doesn't exist`);
    return path;
  }
  if (found.type === expected.type) return path;
  const name = TYPE_NAMES[found.type];
  if (name !== undefined) {
    throw new VolumeSetUpError(
      "missing",
      `hostPath type check failed: ${path} is not a ${expected.words}, it's a ${name}`,
    );
  }
  throw new VolumeSetUpError(
    "missing",
    `hostPath type check failed, ${path} is not a ${expected.words}, unable to determine its type: ` +
      "only recognise file, directory, socket, block device and character device",
  );
}
