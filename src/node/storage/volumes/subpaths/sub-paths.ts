import { codeOf, messageOf, throwJoined } from "../../../../base/errors.ts";
import { createLimiter, type Limiter } from "../../../../base/limiter.ts";
import type { Log } from "../../../../base/log.ts";
import type { FileType } from "../../../../host/file-type.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import type { FilesVolume, Planned } from "../container-mounts.ts";
import { type VolumeDirectories, volumeDirectories } from "../volume-directories.ts";
import { subPathDirectoryName } from "./sub-path-directory.ts";

/**
 * Parts of volumes. Each is bind-mounted at a place of the node's own, from where a container mounts it. Whatever links are
 * planted or swapped in the volume meanwhile, the container gets what was opened below the volume's root, or nothing
 * (CVE-2017-1002101, CVE-2021-25741; upstream's pkg/volume/util/subpath/subpath_linux.go).
 */
export interface SubPaths {
  /**
   * Mounts the part and returns the path where it is mounted; a missing part is made as a directory. The mount of an earlier
   * container is replaced. The error is for the pod's events and names no path of the host; the details are logged.
   */
  prepare(request: SubPathRequest): Promise<Planned<string>>;
  /**
   * Unmounts and removes everything that was prepared for the pod. The pod's containers have ended, and its volumes are still
   * mounted. May be repeated. Tries all, and then rejects with what could not be unmounted or is not ours to remove.
   */
  cleanUp(podUid: string): Promise<void>;
}

/** One of a container's volume mounts. */
export interface SubPathRequest {
  readonly podUid: string;
  /** The volume's name in the pod. */
  readonly volumeName: string;
  readonly volume: FilesVolume;
  /** A relative path without `..`, which `planVolumeMounts` has checked. */
  readonly subPath: string;
  readonly containerName: string;
  /** The mount's place in the container's `volumeMounts`. */
  readonly index: number;
}

interface SubPathsDeps {
  files: Files;
  mounts: Pick<Mounts, "bindBeneath" | "unmount">;
  log: Log;
}

const PLACE_MODE = 0o750;
/** The levels of directories above a target: volumes, and their containers. */
const PLACE_DEPTH = 2;
/** A directory that is made in a volume gets all twelve permission bits of the volume's root, as upstream. */
const INHERITED_MODE = 0o7777;
/** The limit for one pod. An unmount may be a process, or wait for a server, and must not hold up other pods. */
const PARALLEL_UNMOUNTS = 4;
/** The codes that mean that a missing part could not be made. Any other is told as a failure to prepare the part. */
const NOT_MADE: ReadonlySet<string> = new Set(["ENOENT", "EROFS", "ENOSPC", "EDQUOT", "EACCES", "EPERM", "EMLINK"]);

export function createSubPaths(deps: SubPathsDeps, options: { rootDirectory: string }): SubPaths {
  const { files, mounts, log } = deps;
  const show = async (request: SubPathRequest, target: string): Promise<void> => {
    const { volume, subPath } = request;
    const root = await files.stat(volume.hostPath);
    // A volume whose mount is read-only refuses it; those of the API are so for containers only.
    const directoryMode = root === undefined ? undefined : root.mode & INHERITED_MODE;
    await mounts.bindBeneath({ root: volume.hostPath, path: normalise(subPath), target, directoryMode });
  };

  const removeTarget = async ({ path, type }: Entry, line: Limiter): Promise<void> => {
    if (type === "link") throw new Error(`${path} is a link, which was not made by this node agent`);
    await line.run(async () => await mounts.unmount(path));
    const left = await files.stat(path);
    if (left?.type === "directory") return await files.removeEmptyDirectory(path);
    if (left !== undefined && left.sizeBytes > 0) throw new Error(`${path} is not empty`);
    await files.remove(path);
  };

  /** `depth` is the number of levels of directories between this one and the targets. */
  const removeLevel = async ({ path, type }: Entry, depth: number, line: Limiter): Promise<void> => {
    if (type !== "directory") throw new Error(`${path} was not made by this node agent`);
    const entries = (await files.list(path)).map((entry) => ({ path: `${path}/${entry.name}`, type: entry.type }));
    const ends = await Promise.allSettled(
      entries.map(
        async (entry) => await (depth === 0 ? removeTarget(entry, line) : removeLevel(entry, depth - 1, line)),
      ),
    );
    throwJoined(
      ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : [])),
      "removing sub paths of volumes",
    );
    await files.removeEmptyDirectory(path);
  };

  return {
    async prepare(request) {
      const { podUid, containerName } = request;
      const directories = volumeDirectories(options.rootDirectory, podUid);
      try {
        const target = await makePlace(files, directories, request);
        await show(request, target);
        return { ok: true, value: target };
      } catch (error) {
        const { volumeName, subPath } = request;
        const detail = { uid: podUid, container: containerName, volume: volumeName, subPath, error: messageOf(error) };
        log.warn("A sub path of a volume cannot be mounted", detail);
        const act = NOT_MADE.has(codeOf(error) ?? "") ? "create subPath directory" : "prepare subPath";
        return { ok: false, error: `failed to ${act} for volumeMount "${volumeName}" of container "${containerName}"` };
      }
    },
    async cleanUp(podUid) {
      const { subPaths } = volumeDirectories(options.rootDirectory, podUid);
      const found = await files.stat(subPaths);
      const isLink = (await files.readLink(subPaths)) !== undefined;
      if (found === undefined && !isLink) return;
      const type = isLink ? "link" : (found?.type ?? "other");
      await removeLevel({ path: subPaths, type }, PLACE_DEPTH, createLimiter(PARALLEL_UNMOUNTS));
    },
  };
}

interface Entry {
  readonly path: string;
  readonly type: FileType;
}

/** Makes the directories of `volume-subpaths/VOLUME/CONTAINER/INDEX`, all but the last, and returns the whole path. */
async function makePlace(files: Files, directories: VolumeDirectories, request: SubPathRequest): Promise<string> {
  const names = [subPathDirectoryName(directories, request), request.containerName];
  let path = directories.subPaths;
  await files.makeDirectory(path, PLACE_MODE);
  for (const name of names) {
    path = `${path}/${name}`;
    await files.makeDirectory(path, PLACE_MODE);
  }
  return `${path}/${request.index}`;
}

/** `./a//b/` becomes `a/b`, and `.` becomes the empty path of the volume itself. */
function normalise(subPath: string): string {
  return subPath
    .split("/")
    .filter((name) => name !== "" && name !== ".")
    .join("/");
}
