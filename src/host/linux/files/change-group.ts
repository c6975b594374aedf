import * as fs from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { throwIfAborted } from "../../../base/abort.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import { fileError } from "../../file-error.ts";
import { type GroupChange, hasGroup, modeForGroup } from "../../group-permissions.ts";
import { descriptorPath, O_PATH } from "../mounts/held-place.ts";
import { readMountId } from "../mounts/mount-id.ts";
import { readMountTable } from "../mounts/mount-table.ts";
import { bytesOf, openBelow, readBatches } from "./walk-tree.ts";

const { O_NOFOLLOW } = fs.constants;
// Files are handled by descriptor number: a hundred thousand file handles would be as many objects for the garbage
// collector to finalize.
const [openFile, closeFile, fstat] = [promisify(fs.open), promisify(fs.close), promisify(fs.fstat)];
const [chmod, chown, lchown, lstat] = [
  promisify(fs.chmod),
  promisify(fs.chown),
  promisify(fs.lchown),
  promisify(fs.lstat),
];
/** The number of files that are changed at a time, with one descriptor each. */
const CONCURRENCY = 8;
/** A container can nest directories as deep as it likes, and each directory is reached from the root again. */
const MAX_DEPTH = 2_048;

/**
 * The state of one change of a tree. Names are kept byte by byte, as latin1, because a container may use names that are
 * no UTF-8.
 */
interface Change {
  readonly path: string;
  readonly options: GroupChange;
  readonly signal: AbortSignal | undefined;
  readonly root: FileHandle;
  readonly mountId: string;
  /** True when something is mounted somewhere in this tree: then each file is asked what mount it is on. */
  readonly hasMounts: boolean;
  /** Directories still to do, beneath the root. */
  readonly pending: string[];
}

/**
 * See `Files.changeGroup`. Containers may share the tree and exchange anything in it for a link meanwhile. So each file
 * is opened without following a link, and is changed by its descriptor. The root comes last, as in upstream
 * (pkg/volume/volume_linux.go): until then `onlyIfRootDiffers` sees that an earlier run did not end.
 */
export async function changeGroup(path: string, options: GroupChange, signal?: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  const root = await open(path, O_PATH | O_NOFOLLOW);
  try {
    const status = await root.stat();
    if (status.isSymbolicLink()) throw fileError("ELOOP", "chown", path);
    if (options.onlyIfRootDiffers && hasGroup({ mode: status.mode, group: status.gid }, options)) return;
    if (status.isDirectory()) {
      const mountId = readMountId(root);
      const hasMounts = (await readMountTable()).some(({ parentId }) => parentId === Number(mountId));
      const change: Change = { path, options, signal, root, mountId, hasMounts, pending: [""] };
      for (let next = change.pending.pop(); next !== undefined; next = change.pending.pop()) {
        await changeDirectory(change, next);
      }
    }
    await changeOpened(root, options);
  } catch (error) {
    throw nameIn(error, path);
  } finally {
    await root.close();
  }
}

/** Changes the directory and the files in it. The directories in it come later. */
async function changeDirectory(change: Change, relative: string): Promise<void> {
  const directory = await openBelow(change.root, relative);
  if (directory === undefined) return;
  try {
    if (readMountId(directory) !== change.mountId) return;
    if (relative !== "") await changeOpened(directory, change.options);
    const { dev } = await directory.stat();
    for await (const names of readBatches(directory)) {
      await eachOf(names, async (name) => {
        throwIfAborted(change.signal);
        await changeEntry(change, { directory, dev, name, relative: relative === "" ? name : `${relative}/${name}` });
      });
    }
  } finally {
    await directory.close();
  }
}

interface Entry {
  readonly directory: FileHandle;
  readonly dev: number;
  readonly name: string;
  readonly relative: string;
}

/** A file that vanished meanwhile needs no change. */
async function changeEntry(change: Change, { directory, dev, name, relative }: Entry): Promise<void> {
  const through = bytesOf(directory, name);
  const { options } = change;
  try {
    const status = await lstat(through);
    if (status.isDirectory()) {
      if (relative.split("/").length >= MAX_DEPTH) throw fileError("ENAMETOOLONG", "chown", change.path);
      change.pending.push(relative);
    } else if (status.isSymbolicLink()) {
      if (status.gid !== options.group) await lchown(through, -1, options.group);
    } else if (status.dev === dev && !isRight(status, options)) {
      await changeFile(change, through);
    }
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

async function changeFile({ options, mountId, hasMounts }: Change, through: Buffer): Promise<void> {
  const fd = await openFile(through, O_PATH | O_NOFOLLOW);
  try {
    if (hasMounts && readMountId({ fd }) !== mountId) return;
    await changeOpened({ fd }, options);
  } finally {
    await closeFile(fd);
  }
}

/** Changes a file by its descriptor. A link, which may have come there since, is left unchanged. */
async function changeOpened(file: { readonly fd: number }, options: GroupChange): Promise<void> {
  const status = await fstat(file.fd);
  if (status.isSymbolicLink() || isRight(status, options)) return;
  // A change of the group takes bits away (set-user-ID), so the earlier mode is given back after it.
  if (status.gid !== options.group) await chown(descriptorPath(file), -1, options.group);
  await chmod(descriptorPath(file), modeForGroup({ mode: status.mode, isDirectory: status.isDirectory() }, options));
}

function isRight(status: fs.Stats, options: GroupChange): boolean {
  const { mode, gid } = status;
  return (
    gid === options.group && modeForGroup({ mode, isDirectory: status.isDirectory() }, options) === (mode & 0o7777)
  );
}

/** Works on a few names at a time. After the first failure it ends when the works under way have ended. */
async function eachOf(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  const left = names[Symbol.iterator]();
  const workers = Array.from({ length: CONCURRENCY }, async () => {
    for (const name of left) await work(name);
  });
  const failed = (await Promise.allSettled(workers)).find((worker) => worker.status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

/** The system's error names the path through the descriptor, which tells a reader nothing. */
function nameIn(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (code === undefined || error instanceof CodedError) return error;
  return new CodedError(code, `${code}: cannot change the group of '${path}' and what is in it`, { cause: error });
}
