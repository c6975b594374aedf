import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
  chmod,
  chown,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readlink,
  rename,
  rmdir,
  stat,
  symlink,
  unlink,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import { fileError } from "../../file-error.ts";
import type { FileStatus, Files } from "../../port.ts";
import { changeGroup } from "./change-group.ts";
import { createTree } from "./create-tree.ts";
import { readDiskUsage } from "./disk-usage.ts";
import { typeOf } from "./file-type.ts";
import { isGivenWhole } from "./given-whole.ts";
import { makeDirectoryBeneath } from "./make-directory-beneath.ts";
import { noteRemovals } from "./note-removals.ts";
import { openDirectoryBeneath } from "./open-directory.ts";
import { listDirectory, listFileBeneath, openFileBeneath } from "./open-file.ts";
import { removeTree } from "./remove-tree.ts";
import { renameFile } from "./rename-file.ts";
import { watchDirectory } from "./watch-directory.ts";

const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_DIRECTORY } = constants;

/** The mode of directories that are made on the way to another. */
const PARENT_MODE = 0o755;

export const linuxFiles: Files = {
  read: async (path, maxBytes) =>
    withRegularFile(path, async (handle, size) => {
      if (size > maxBytes) throw fileError("EFBIG", "read", path);
      const data = await readWhole(handle, { sizeHint: size, maxBytes: maxBytes + 1 });
      if (data.length > maxBytes) throw fileError("EFBIG", "read", path);
      return data;
    }),
  async writeAtomically(path, data, mode) {
    await replaceFile(path, data, { mode, sync: true });
    await syncDirectory(dirname(path));
  },
  exchange: async (path, data, mode) => replaceFile(path, data, { mode, sync: true }),
  replace: async (path, data, mode) => replaceFile(path, data, { mode, sync: false }),
  append,
  touch,
  makeDirectory,
  async setGroup(path, group, mode) {
    await chown(path, -1, group);
    await chmod(path, mode);
  },
  changeGroup,
  createTree,
  list: async (path) => await listDirectory(path),
  stat: readStatus,
  diskUsage: readDiskUsage,
  link: replaceLink,
  readLink,
  remove: removeTree,
  removeEmptyDirectory,
  openBeneath: openFileBeneath,
  listBeneath: listFileBeneath,
  openDirectoryBeneath,
  async makeDirectoryBeneath(root, path, mode) {
    await makeWithParents(root, PARENT_MODE);
    await makeDirectoryBeneath(root, path, mode);
  },
  rename: renameFile,
  watch: watchDirectory,
  noteRemovals,
};

/**
 * Opens without waiting: a FIFO without a writer would hold one of the few threads of the file system forever. The type
 * is also checked before the open, because opening some devices has effects of its own.
 */
async function withRegularFile<T>(path: string, use: (handle: FileHandle, size: number) => Promise<T>): Promise<T> {
  refuseUnlessRegular(await stat(path), path);
  const handle = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const status = await handle.stat();
    refuseUnlessRegular(status, path);
    return await use(handle, status.size);
  } finally {
    await handle.close();
  }
}

function refuseUnlessRegular(status: Stats, path: string): void {
  if (status.isDirectory()) throw fileError("EISDIR", "read", path);
  if (!status.isFile()) throw fileError("EINVAL", "read", path);
}

/** Reads up to `maxBytes`. The size is a hint only: files of procfs say 0, and others grow meanwhile. */
async function readWhole(handle: FileHandle, options: { sizeHint: number; maxBytes: number }): Promise<Buffer> {
  let buffer = Buffer.allocUnsafe(Math.min(options.maxBytes, Math.max(options.sizeHint + 1, 4_096)));
  let length = 0;
  while (length < options.maxBytes) {
    if (length === buffer.length) {
      const larger = Buffer.allocUnsafe(Math.min(options.maxBytes, buffer.length * 2));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** Writes the file beside its place and renames it over. With `sync` the content is on the disk before its name is. */
async function replaceFile(
  path: string,
  data: string | Buffer,
  { mode, sync }: { mode: number; sync: boolean },
): Promise<void> {
  const beside = join(dirname(path), `.nodelet-${randomBytes(8).toString("hex")}.tmp`);
  const isGiven = isGivenWhole(mode);
  const handle = await open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, isGiven ? mode : 0o600);
  try {
    try {
      if (data.length > 0) await handle.writeFile(data);
      if (!isGiven) await handle.chmod(mode);
      if (sync) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, path);
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

/** Without this a power loss may forget the rename. File systems that cannot sync a directory say `EINVAL`. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== "EINVAL") throw error;
  } finally {
    await handle.close();
  }
}

async function append(path: string, data: string | Buffer, mode: number): Promise<void> {
  const handle = await openToWrite(path, O_APPEND, mode);
  try {
    refuseUnlessRegular(await handle.stat(), path);
    await handle.appendFile(data);
  } finally {
    await handle.close();
  }
}

async function touch(path: string, mode: number): Promise<void> {
  if (isGivenWhole(mode) && (await isMadeEmpty(path, mode))) return;
  const handle = await openToWrite(path, 0, mode);
  try {
    refuseUnlessRegular(await handle.stat(), path);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

/** Returns false where something has the name already. */
async function isMadeEmpty(path: string, mode: number): Promise<boolean> {
  try {
    await (await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)).close();
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Opens a file for writing, makes it where it is absent, follows no link and waits for no reader of a FIFO. */
async function openToWrite(path: string, flag: number, mode: number): Promise<FileHandle> {
  return await open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flag, mode).catch((error) => {
    // A FIFO without a reader and a socket give ENXIO.
    throw codeOf(error) === "ENXIO" ? fileError("EINVAL", "open", path) : error;
  });
}

/** `mkdir` with `recursive` would leave the mode of the parents to the umask. */
async function makeDirectory(path: string, mode: number): Promise<void> {
  const isNew = await makeWithParents(path, mode);
  if (!isNew || !isGivenWhole(mode)) await chmod(path, mode);
}

/** Returns whether it made the last directory, whose mode is left to the umask. */
async function makeWithParents(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, mode);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT" && dirname(path) !== path) {
      // A parent that another process makes at the same time is as good.
      await makeDirectory(dirname(path), PARENT_MODE);
      return await makeWithParents(path, mode);
    }
    if (codeOf(error) !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
    return false;
  }
}

async function readStatus(path: string): Promise<FileStatus | undefined> {
  try {
    // The status is read as bigint, because the times of change are compared to the nanosecond.
    const status = await stat(path, { bigint: true });
    return {
      type: typeOf(status),
      sizeBytes: Number(status.size),
      modifiedAt: Number(status.mtimeNs / 1_000n) / 1_000,
      mode: Number(status.mode) & 0o7777,
      user: Number(status.uid),
      group: Number(status.gid),
      device: String(status.dev),
      version: [status.dev, status.ino, status.size, status.mtimeNs, status.ctimeNs].join(":"),
    };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function replaceLink(target: string, path: string): Promise<void> {
  try {
    await symlink(target, path);
    return;
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || !(await lstat(path)).isSymbolicLink()) throw error;
  }
  if ((await readLink(path)) === target) return;
  const beside = join(dirname(path), `.${basename(path).slice(0, 200)}-${randomBytes(8).toString("hex")}.tmp`);
  await symlink(target, beside);
  try {
    await rename(beside, path);
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
}

async function readLink(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (codeOf(error) === "EINVAL" || isAbsent(error)) return undefined;
    throw error;
  }
}

async function removeEmptyDirectory(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}
