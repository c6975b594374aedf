import { constants, lstat as lstatCallback, type Stats } from "node:fs";
import { type FileHandle, open, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import { throwIfAborted } from "../../../base/abort.ts";
import { codeOf } from "../../../base/errors.ts";
import type { DiskUsage } from "../../port.ts";
import { descriptorPath, O_PATH } from "../mounts/held-place.ts";
import { readMountTable } from "../mounts/mount-table.ts";
import { bytesOf, openBelow, readBatches } from "./walk-tree.ts";

const lstat = promisify(lstatCallback);
const { O_NOFOLLOW } = constants;
/** The unit of `st_blocks`, whatever the size of the file system's own blocks. */
const BLOCK_BYTES = 512;
/** One directory in this many levels is kept open, so that at most this many opens lead to each directory. */
const ANCHOR_EVERY = 16;
/** A path of single letters with this depth is still no longer than 4096 bytes. */
const MAX_DEPTH = 2_048;
/** The names of directories that are remembered until they are looked into. More are looked into at once. */
const MAX_WAITING = 1_000_000;
/** Directories that are looked into at once keep all above them open, so that they are so deep at most. */
const MAX_DEPTH_AT_ONCE = 256;

/** The state of one walk. */
interface Walk {
  readonly signal: AbortSignal | undefined;
  readonly maxWaiting: number;
  readonly device: number;
  /** The paths of mounts in the tree, relative to its root; byte by byte, as latin1. */
  readonly mounted: ReadonlySet<string>;
  /** The number of directories that are still to be looked into. */
  waiting: number;
  bytes: number;
  inodes: number;
  isWhole: boolean;
}

/**
 * See `Files.diskUsage`; upstream's `DiskUsage` (pkg/volume/util/fs/fs.go). Containers may share the tree and exchange
 * anything in it meanwhile, so every name is reached through directories that were opened without following links.
 * Mounts in the tree are not looked at, because their server may not answer.
 */
export async function readDiskUsage(
  path: string,
  signal?: AbortSignal,
  { maxWaiting = MAX_WAITING }: { readonly maxWaiting?: number } = {},
): Promise<DiskUsage | undefined> {
  throwIfAborted(signal);
  const root = await openRoot(path);
  if (root === undefined) return undefined;
  try {
    const status = await root.stat();
    const mounted = status.isDirectory() ? await findMounted(root) : new Set<string>();
    const seen = { waiting: 0, bytes: 0, inodes: 0, isWhole: true };
    const walk: Walk = { signal, maxWaiting, device: status.dev, mounted, ...seen };
    add(walk, status);
    if (status.isDirectory()) await walkDirectory(walk, { anchor: root, below: "", relative: "", depth: 0 });
    return { bytes: Math.round(walk.bytes), inodes: Math.round(walk.inodes), isWhole: walk.isWhole };
  } finally {
    await root.close();
  }
}

/** A directory to look into: its path below a directory that is held open, and its path below the root. */
interface Directory {
  readonly anchor: FileHandle;
  readonly below: string;
  readonly relative: string;
  readonly depth: number;
}

async function walkDirectory(walk: Walk, at: Directory): Promise<void> {
  const directory = await openBelow(at.anchor, at.below);
  if (directory === undefined) return;
  try {
    const names = await lookInto(walk, { directory, at });
    const isAnchor = at.depth % ANCHOR_EVERY === 0;
    if (!isAnchor) await directory.close();
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      walk.waiting--;
      await walkDirectory(walk, {
        anchor: isAnchor ? directory : at.anchor,
        below: isAnchor ? name : `${at.below}/${name}`,
        relative: join(at.relative, name),
        depth: at.depth + 1,
      });
    }
  } finally {
    // A second close does nothing.
    await directory.close();
  }
}

/** Counts the entries of the directory. Returns the names of the directories among them that are to be looked into. */
async function lookInto(walk: Walk, { directory, at }: { directory: FileHandle; at: Directory }): Promise<string[]> {
  const found: string[] = [];
  for await (const names of readBatches(directory)) {
    // The names are looked at one after another, so that a disk that hangs takes only one of the process's few threads.
    for (const name of names) {
      throwIfAborted(walk.signal);
      if (walk.mounted.has(join(at.relative, name))) continue;
      const status = await statusOf(directory, name);
      if (status?.dev !== walk.device) continue;
      add(walk, status);
      if (!status.isDirectory()) continue;
      if (at.depth < MAX_DEPTH && walk.waiting < walk.maxWaiting) {
        walk.waiting++;
        found.push(name);
      } else if (at.depth < MAX_DEPTH_AT_ONCE) {
        const relative = join(at.relative, name);
        await walkDirectory(walk, { anchor: directory, below: name, relative, depth: at.depth + 1 });
      } else {
        walk.isWhole = false;
      }
    }
  }
  return found;
}

/**
 * A file with several names counts its share for each of them, so that the names already seen need not be remembered.
 */
function add(walk: Walk, status: Stats): void {
  const share = status.isDirectory() ? 1 : Math.max(1, status.nlink);
  walk.bytes += (status.blocks * BLOCK_BYTES) / share;
  walk.inodes += 1 / share;
}

async function openRoot(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_PATH | O_NOFOLLOW);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function findMounted(root: FileHandle): Promise<Set<string>> {
  const beneath = `${await readlink(descriptorPath(root))}/`;
  const paths = (await readMountTable()).map(({ path }) => path).filter((path) => path.startsWith(beneath));
  return new Set(paths.map((path) => Buffer.from(path.slice(beneath.length)).toString("latin1")));
}

/** A file that vanished meanwhile takes no space. */
async function statusOf(directory: FileHandle, name: string): Promise<Stats | undefined> {
  try {
    return await lstat(bytesOf(directory, name));
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

function join(directory: string, name: string): string {
  return directory === "" ? name : `${directory}/${name}`;
}
