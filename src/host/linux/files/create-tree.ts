import { constants } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { assert } from "../../../base/assert.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import type { NewFile, NewTree } from "../../port.ts";
import { isGivenWhole } from "./given-whole.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW } = constants;

/** The planned content of a directory: each name is a file, or a directory with more. */
type Content = Map<string, NewFile | Content>;

/**
 * Makes a directory with all its files. Every step goes through the descriptor of the directory that the name is made
 * in (`/proc/self/fd/N/name`, as `openat` does), so that no process that shares the volume can put a link in its way.
 */
export async function createTree(path: string, tree: NewTree): Promise<void> {
  const content = arrange(tree.files);
  const parent = await open(dirname(path), O_RDONLY | O_DIRECTORY);
  try {
    await makeDirectory({ parent, name: basename(path), path }, content, tree);
  } finally {
    await parent.close();
  }
}

interface Place {
  parent: FileHandle;
  name: string;
  /** For messages only. */
  path: string;
}

async function makeDirectory(place: Place, content: Content, tree: NewTree): Promise<void> {
  const through = `/proc/self/fd/${place.parent.fd}/${place.name}`;
  await named("mkdir", place.path, async () => await mkdir(through, 0o700));
  const directory = await named("open", place.path, async () => {
    return await open(through, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  });
  try {
    for (const [name, entry] of content) {
      const inside = { parent: directory, name, path: `${place.path}/${name}` };
      if (entry instanceof Map) await makeDirectory(inside, entry, tree);
      else await named("write", inside.path, async () => await makeFile(inside, entry, tree.group));
    }
    if (tree.group !== undefined) await directory.chown(-1, tree.group);
    await directory.chmod(tree.directoryMode);
  } finally {
    await directory.close();
  }
}

async function makeFile({ parent, name }: Place, file: NewFile, group: number | undefined): Promise<void> {
  const through = `/proc/self/fd/${parent.fd}/${name}`;
  const hasOwner = file.user !== undefined || group !== undefined;
  const isGiven = !hasOwner && isGivenWhole(file.mode);
  const handle = await open(through, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, isGiven ? file.mode : 0o600);
  try {
    if (file.data.length > 0) await handle.writeFile(file.data);
    if (hasOwner) await handle.chown(file.user ?? -1, group ?? -1);
    // The mode is set after the owner, because a change of the owner takes some bits away.
    if (!isGiven) await handle.chmod(file.mode);
  } finally {
    await handle.close();
  }
}

function arrange(files: ReadonlyMap<string, NewFile>): Content {
  const root: Content = new Map();
  for (const [path, file] of files) {
    const names = path.split("/");
    const last = names.pop() ?? "";
    for (const name of [...names, last]) assert(name !== "" && name !== "." && name !== "..", "paths are clean");
    let directory = root;
    for (const name of names) {
      const found = directory.get(name) ?? new Map();
      assert(found instanceof Map, "no path goes through a file");
      directory.set(name, found);
      directory = found;
    }
    assert(!directory.has(last), "no file takes the place of a directory");
    directory.set(last, file);
  }
  return root;
}

/** The system's error names the path through the descriptor, which tells a reader nothing. */
async function named<T>(operation: string, path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const code = codeOf(error) ?? "EIO";
    throw new CodedError(code, `${code}: cannot ${operation} '${path}'`, { cause: error });
  }
}
