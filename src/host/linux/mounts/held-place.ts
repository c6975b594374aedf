import { closeSync, constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import { openDescriptor } from "../files/open-descriptor.ts";
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
  readonly parent: { readonly fd: number };
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
  const fd = await named({ operation, path }, async () => await openDescriptor(dirname(path), O_PATH | O_DIRECTORY));
  try {
    return await use({ parent: { fd }, name, through: `${descriptorPath({ fd })}/${name}`, path });
  } finally {
    closeSync(fd);
  }
}

/** Opens the entry at the place, a link itself included; undefined when there is nothing. */
export async function openPlace(place: Pick<HeldPlace, "through">, flags = 0): Promise<FileHandle | undefined> {
  return await orNothing(open(place.through, O_PATH | O_NOFOLLOW | flags));
}

async function orNothing<T>(opened: Promise<T>): Promise<T | undefined> {
  try {
    return await opened;
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/**
 * The id of the mount over the place itself; undefined where nothing is mounted. A link has nothing mounted over it.
 */
export async function readMountIdAt(place: HeldPlace): Promise<string | undefined> {
  const fd = await orNothing(openDescriptor(place.through, O_PATH | O_NOFOLLOW));
  if (fd === undefined) return undefined;
  try {
    const [own, parent] = [readMountId({ fd }), readMountId(place.parent)];
    return own === parent ? undefined : own;
  } finally {
    closeSync(fd);
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
