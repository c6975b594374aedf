import { closeSync, constants } from "node:fs";
import { readdir, rename, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { assert } from "../../../base/assert.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import { fileError } from "../../file-error.ts";
import { readMountId } from "../mounts/mount-id.ts";
import { openDescriptor } from "./open-descriptor.ts";

/**
 * Each level keeps a descriptor open, and a container can nest directories as deep as it likes. A deeper directory is
 * moved up into the directory that is removed, and removed from there.
 */
const MAX_DEPTH = 256;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Removes a file or a tree. A container that shares part of the tree may swap a directory for a link during the walk.
 * So every step goes through the descriptor of the directory that holds the name (`/proc/self/fd/N/name`, which is what
 * `unlinkat` does), and a directory is opened without following a link.
 */
export async function removeTree(path: string): Promise<void> {
  const name = basename(path);
  assert(name !== "" && name !== "." && name !== "..", "what is removed has a name");
  const refusal = await removeAtOnce(join(dirname(path), name));
  if (refusal === undefined) return;
  const isDirectory = refusal === "ENOTEMPTY";
  let parent: Directory;
  try {
    parent = { fd: await openDescriptor(dirname(path), O_RDONLY | O_DIRECTORY) };
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return;
    throw error;
  }
  try {
    await removeEntry({ parent, mountId: readMountId(parent), name: Buffer.from(name), path, depth: 0, isDirectory });
  } finally {
    closeSync(parent.fd);
  }
}

/** An open directory. It is closed at once, because nothing waits for that. */
interface Directory {
  readonly fd: number;
}

/**
 * Removes what needs no walk: an empty directory with one call, what is no directory with two. Returns why that was refused;
 * undefined where nothing is left. Whatever it is, the walk tells: what holds a mount is refused there as well.
 */
async function removeAtOnce(path: string): Promise<string | undefined> {
  const refusal = await refusalOf(rmdir(path));
  return refusal === "ENOTDIR" ? await refusalOf(unlink(path)) : refusal;
}

/** The code of the error; undefined where there was none, or nothing was there. */
async function refusalOf(step: Promise<void>): Promise<string | undefined> {
  return await step.then(
    () => undefined,
    (error: unknown) => (codeOf(error) === "ENOENT" ? undefined : (codeOf(error) ?? "EIO")),
  );
}

interface Entry {
  parent: Directory;
  /** The id of the mount that `parent` is on. */
  mountId: string;
  /** The name is kept byte by byte, because a container may use names that are no UTF-8. */
  name: Buffer;
  /** For messages only. */
  path: string;
  depth: number;
  /** The type that the directory's listing gave, which may be out of date. Default: not known. */
  isDirectory?: boolean;
  /** The directory that is removed; undefined for that directory itself. */
  top?: Top | undefined;
}

interface Top {
  directory: Directory;
  /** Directories that were moved up into it. */
  lifted: number;
}

async function removeEntry(entry: Entry): Promise<void> {
  const through = Buffer.concat([Buffer.from(`${pathOf(entry.parent)}/`), entry.name]);
  const isDeep = entry.depth >= MAX_DEPTH && entry.top !== undefined;
  // Many directories are empty, and need no walk. The top was tried before.
  const mayBeEmpty = entry.isDirectory === true && entry.depth > 0 && !isDeep;
  if (mayBeEmpty && (await refusalOf(rmdir(through))) === undefined) return;
  // To unlink a directory is an error that costs more than the rest, so an entry that was listed as a directory is
  // opened as one.
  if ((isDeep || entry.isDirectory !== true) && (await unlinked(entry, through))) return;
  if (isDeep && entry.top) return await lift(entry, entry.top, through);
  if (!(await emptyDirectory(entry, through))) return await removeEntry({ ...entry, isDirectory: false });
  try {
    await rmdir(through);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw nameIn(error, "rmdir", entry.path);
  }
}

/** Returns true when the entry is gone, and false for a directory. */
async function unlinked(entry: Entry, through: Buffer): Promise<boolean> {
  try {
    await unlink(through);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    // Linux says EISDIR for a directory, POSIX EPERM; a real EPERM comes back from the steps that follow.
    if (codeOf(error) === "EISDIR" || codeOf(error) === "EPERM") return false;
    throw nameIn(error, "unlink", entry.path);
  }
}

/** Returns false where the entry is no longer the directory that it was listed as. */
async function emptyDirectory(entry: Entry, through: Buffer): Promise<boolean> {
  let directory: Directory;
  try {
    directory = { fd: await openDescriptor(through, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK) };
  } catch (error) {
    if (entry.isDirectory === true && ["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return false;
    throw nameIn(error, "open", entry.path);
  }
  try {
    // The device number would not do, because a bind mount shows another directory of the same file system.
    if (readMountId(directory) !== entry.mountId) throw fileError("EBUSY", "rmdir", entry.path);
    const top = entry.top ?? { directory, lifted: 0 };
    let liftedBefore: number;
    do {
      liftedBefore = top.lifted;
      await emptyOpened(entry, directory, top);
    } while (directory === top.directory && top.lifted > liftedBefore);
    return true;
  } finally {
    closeSync(directory.fd);
  }
}

async function emptyOpened(entry: Entry, directory: Directory, top: Top): Promise<void> {
  const { mountId, depth } = entry;
  for (const listed of await readdir(pathOf(directory), { encoding: "buffer", withFileTypes: true })) {
    const { name } = listed;
    const known = { name, path: `${entry.path}/${name.toString()}`, isDirectory: listed.isDirectory() };
    await removeEntry({ parent: directory, mountId, depth: depth + 1, top, ...known });
  }
}

/** A taken name is passed over: `rename` replaces nothing but an empty directory. */
async function lift(entry: Entry, top: Top, through: Buffer): Promise<void> {
  for (;;) {
    const to = `${pathOf(top.directory)}/.lifted-${top.lifted++}`;
    try {
      return await rename(through, to);
    } catch (error) {
      const isTaken = ["EEXIST", "ENOTEMPTY", "ENOTDIR"].includes(codeOf(error) ?? "");
      if (!isTaken) throw nameIn(error, "rename", entry.path);
    }
  }
}

/** The system's error names the path through the descriptor, which tells a reader nothing. */
function nameIn(error: unknown, operation: string, path: string): Error {
  const code = codeOf(error) ?? "EIO";
  if (code === "EBUSY") return fileError("EBUSY", operation, path);
  return new CodedError(code, `${code}: cannot ${operation} '${path}'`, { cause: error });
}

function pathOf({ fd }: Directory): string {
  return `/proc/self/fd/${fd}`;
}
