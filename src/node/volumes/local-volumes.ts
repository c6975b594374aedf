import type { EmptyDirVolumeSource, HostPathVolumeSource, Pod } from "../../api/gen/types.ts";
import type { Files, FileType } from "../../host/port.ts";
import { computeMemorySize } from "./memory-size.ts";
import type { VolumeDirectories } from "./volume-directories.ts";
import type { VolumeDirectoryMaker } from "./volume-directory-maker.ts";

/** An emptyDir of a pod. */
export interface EmptyDirRequest {
  readonly volumeName: string;
  readonly source: EmptyDirVolumeSource;
  readonly directories: VolumeDirectories;
  readonly signal: AbortSignal;
}

/** A directory that is empty when the pod starts, and goes with the pod. Gives its path. */
export async function setUpEmptyDir(
  directoryMaker: VolumeDirectoryMaker,
  pod: Pod,
  { volumeName, source, directories, signal }: EmptyDirRequest,
): Promise<string> {
  const { medium = "", sizeLimit } = source;
  if (medium !== "" && medium !== "Memory") throw new Error(`emptyDir.medium "${medium}" is not supported yet`);
  const memory = medium === "Memory" ? { sizeBytes: computeMemorySize(pod, { sizeLimit }) } : undefined;
  const group = pod.spec?.securityContext?.fsGroup;
  return await directoryMaker.ensure(directories, { kind: "emptyDir", volumeName, memory, group }, signal);
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

/** What is on the machine already, once it is known to be what the pod expects. Gives its path. */
export async function setUpHostPath(files: Files, { path, type = "" }: HostPathVolumeSource): Promise<string> {
  if (type === "") return path;
  const expected = EXPECTED[type];
  if (expected === undefined) throw new Error(`unknown hostPath type "${type}"`);
  const found = await files.stat(path);
  if (found === undefined) {
    if (type === "DirectoryOrCreate") await files.makeDirectory(path, 0o755);
    else if (type === "FileOrCreate") await files.touch(path, 0o644);
    else throw new Error(`hostPath type check failed: ${path} does not exist`);
    return path;
  }
  if (found.type === expected.type) return path;
  throw new Error(`hostPath type check failed: ${path} is not ${expected.words}`);
}
