import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import { mountError } from "./mount-calls.ts";
import { readMountId } from "./mount-id.ts";

/**
 * A handle of this kind names a file without opening it: no permission is asked, no device or FIFO notices, no file
 * system is waited for.
 */
export const O_PATH = 0o10000000;
const { O_DIRECTORY, O_NOFOLLOW } = constants;

/** A name in a directory that is held open. A process that renames a directory above it changes nothing here. */
export interface HeldPlace {
  readonly parent: FileHandle;
  readonly name: string;
  /** Leads to the name through the open directory. */
  readonly through: string;
  /** The path as the caller named it; for messages. */
  readonly path: string;
}

/** Links above the name are followed, because they are the caller's own. `ENOENT` when the directory is not there. */
export async function withPlace<T>(path: string, operation: string, use: (place: HeldPlace) => Promise<T>): Promise<T> {
  const name = basename(path);
  if (name === "" || name === "." || name === "..") throw mountError("EINVAL", { operation, path });
  const parent = await named({ operation, path }, async () => await open(dirname(path), O_PATH | O_DIRECTORY));
  try {
    return await use({ parent, name, through: `${descriptorPath(parent)}/${name}`, path });
  } finally {
    await parent.close();
  }
}

/** Opens the entry at the place, a link itself included; undefined when there is nothing. */
export async function openPlace(place: Pick<HeldPlace, "through">, flags = 0): Promise<FileHandle | undefined> {
  try {
    return await open(place.through, O_PATH | O_NOFOLLOW | flags);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/**
 * The id of the mount over the place itself; undefined where nothing is mounted. A link has nothing mounted over it.
 */
export async function readMountIdAt(place: HeldPlace): Promise<string | undefined> {
  const handle = await openPlace(place);
  if (handle === undefined) return undefined;
  try {
    const [own, parent] = [readMountId(handle), readMountId(place.parent)];
    return own === parent ? undefined : own;
  } finally {
    await handle.close();
  }
}

/** The path leads to the open file itself, whatever happens to its name. */
export function descriptorPath({ fd }: { fd: number }): string {
  return `/proc/self/fd/${fd}`;
}

/** The system's error names the path through the descriptor, which tells a reader nothing. */
export async function named<T>(what: { operation: string; path: string }, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw mountError(codeOf(error) ?? "EIO", what, error);
  }
}
