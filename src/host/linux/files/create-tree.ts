import { constants } from "node:fs";
import { basename, dirname } from "node:path";
import { assert } from "../../../base/assert.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import type { NewFile, NewTree } from "../../port.ts";
import { type FileStep, type FileWork, takeFileSteps, takeFileStepsAtOnce } from "./file-steps.ts";
import { isGivenWhole } from "./given-whole.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW } = constants;

/** What is larger is written by threads although it is in memory: it must not hold everything else up. */
const MAX_FILES_AT_ONCE = 64;
const MAX_BYTES_AT_ONCE = 256 * 1024;

/** The planned content of a directory: each name is a file, or a directory with more. */
type Content = Map<string, NewFile | Content>;

/**
 * Makes a directory with all its files. Every step goes through the descriptor of the directory that the name is made
 * in (`/proc/self/fd/N/name`, as `openat` does), so that no process that shares the volume can put a link in its way.
 */
export async function createTree(path: string, tree: NewTree): Promise<void> {
  const work = makeTree(path, tree);
  if (tree.isInMemory === true && isSmall(tree)) takeFileStepsAtOnce(work);
  else await takeFileSteps(work);
}

function isSmall({ files, links }: NewTree): boolean {
  if (files.size + (links?.size ?? 0) > MAX_FILES_AT_ONCE) return false;
  let bytes = 0;
  for (const { data } of files.values()) bytes += data.length;
  return bytes <= MAX_BYTES_AT_ONCE;
}

function* makeTree(path: string, tree: NewTree): FileWork {
  const content = arrange(tree.files);
  const parent = yield { call: "open", path: dirname(path), flags: O_RDONLY | O_DIRECTORY };
  try {
    yield* makeDirectory({ parent, name: basename(path), path }, content, tree);
    for (const [name, target] of tree.links ?? []) {
      const what = { operation: "link", path: `${dirname(path)}/${name}` };
      yield* named(what, { call: "symlink", path: through({ parent, name }), target });
    }
  } finally {
    yield { call: "close", fd: parent };
  }
}

interface Place {
  /** The descriptor of the directory. */
  parent: number;
  name: string;
  /** For messages only. */
  path: string;
}

function* makeDirectory(place: Place, content: Content, tree: NewTree): FileWork {
  const { path } = place;
  yield* named({ operation: "mkdir", path }, { call: "mkdir", path: through(place), mode: 0o700 });
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  const directory = yield* named({ operation: "open", path }, { call: "open", path: through(place), flags });
  try {
    for (const [name, entry] of content) {
      const inside = { parent: directory, name, path: `${path}/${name}` };
      if (entry instanceof Map) yield* makeDirectory(inside, entry, tree);
      else yield* makeFile(inside, entry, tree.group);
    }
    if (tree.group !== undefined) yield { call: "fchown", fd: directory, user: -1, group: tree.group };
    yield { call: "fchmod", fd: directory, mode: tree.directoryMode };
  } finally {
    yield { call: "close", fd: directory };
  }
}

function* makeFile(place: Place, file: NewFile, group: number | undefined): FileWork {
  const what = { operation: "write", path: place.path };
  const hasOwner = file.user !== undefined || group !== undefined;
  const isGiven = !hasOwner && isGivenWhole(file.mode);
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const mode = isGiven ? file.mode : 0o600;
  const fd = yield* named(what, { call: "open", path: through(place), flags, mode });
  try {
    if (file.data.length > 0) yield* named(what, { call: "write", fd, data: file.data });
    if (hasOwner) yield* named(what, { call: "fchown", fd, user: file.user ?? -1, group: group ?? -1 });
    // The mode is set after the owner, because a change of the owner takes some bits away.
    if (!isGiven) yield* named(what, { call: "fchmod", fd, mode: file.mode });
  } finally {
    yield { call: "close", fd };
  }
}

function through({ parent, name }: Pick<Place, "parent" | "name">): string {
  return `/proc/self/fd/${parent}/${name}`;
}

/** The system's error names the path through the descriptor, which tells a reader nothing. */
function* named(
  { operation, path }: { operation: string; path: string },
  step: FileStep,
): Generator<FileStep, number, number> {
  try {
    return yield step;
  } catch (error) {
    const code = codeOf(error) ?? "EIO";
    throw new CodedError(code, `${code}: cannot ${operation} '${path}'`, { cause: error });
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
