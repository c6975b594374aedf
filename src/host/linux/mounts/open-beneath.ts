import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readlink } from "node:fs/promises";
import { CodedError, codeOf } from "../../../base/errors.ts";
import { descriptorPath, named, O_PATH } from "./held-place.ts";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** Linux gives up after this many links, too. */
const MAX_LINKS = 40;
/** Each level of directories keeps one descriptor open. */
const MAX_DEPTH = 256;
/** An entry may be exchanged this often at one name before it is taken for an attack. */
const MAX_EXCHANGES = 100;

interface OpenBeneath {
  /** Links in it are followed: a container that can change the tree below it cannot change the root itself. */
  readonly root: string;
  /** The path is relative, without `..`. */
  readonly path: string;
  /** Missing directories are made with this mode, whatever the umask. Undefined: they are `ENOENT`. */
  readonly directoryMode?: number | undefined;
  /** Any link in the path is `ELOOP`, wherever it leads. */
  readonly refusesLinks?: boolean;
}

/** The state of the walk so far. */
interface Walk {
  readonly request: OpenBeneath;
  /** The handles from the root to the place of the walk; only the last one may be no directory. */
  readonly opened: FileHandle[];
  /** Names still to go. */
  readonly names: string[];
  /** The prefixes by which absolute links may begin to stay beneath the root. */
  readonly rootPaths: readonly string[];
  links: number;
}

/**
 * Opens `path` beneath `root` safely, even if a container changes the tree meanwhile (CVE-2017-1002101,
 * CVE-2021-25741). Each name is opened in the directory that was opened before it, without following a link. Links are
 * read and walked here, so that `..` goes back along the opened handles and never by the kernel's way. The handle is of
 * `O_PATH`: it is good for fstat and for its path, and no device or FIFO that is opened so notices it or makes the
 * caller wait. The caller closes it.
 */
export async function openBeneath(request: OpenBeneath): Promise<FileHandle> {
  const { root, path } = request;
  const names = path.split("/");
  if (path.startsWith("/") || names.includes("..")) throw beneathError("EINVAL", request, "it must be relative");
  const handle = await named({ operation: "open", path: root }, async () => await open(root, O_PATH));
  const opened = [handle];
  try {
    const rootPaths = [root, await readlink(descriptorPath(handle))].map((candidate) => candidate.replace(/\/+$/, ""));
    const walk: Walk = { request, opened, names, rootPaths, links: 0 };
    for (let name = names.shift(); name !== undefined; name = names.shift()) await go(walk, name);
    return keepLast(opened);
  } finally {
    for (const left of opened) await left.close();
  }
}

function keepLast(opened: FileHandle[]): FileHandle {
  const last = opened.pop();
  if (last === undefined) throw new Error("the walk always stands somewhere");
  return last;
}

async function go(walk: Walk, name: string): Promise<void> {
  if (name === "" || name === ".") return;
  if (name === "..") {
    if (walk.opened.length === 1) throw beneathError("EXDEV", walk.request, "a link leads out of it");
    await walk.opened.pop()?.close();
    return;
  }
  if (walk.opened.length >= MAX_DEPTH) throw beneathError("ENAMETOOLONG", walk.request, "it is nested too deeply");
  for (let attempt = 0; attempt < MAX_EXCHANGES; attempt++) if (await tryName(walk, name)) return;
  throw beneathError("EAGAIN", walk.request, `'${name}' changes all the time`);
}

/** Returns false when the entry changed between two looks at it. */
async function tryName(walk: Walk, name: string): Promise<boolean> {
  const parent = walk.opened[walk.opened.length - 1];
  if (parent === undefined) return false;
  const through = `${descriptorPath(parent)}/${name}`;
  // Most names are directories, and a name that is opened as a directory needs no further question.
  const directory = await openOr(walk, through, O_DIRECTORY, ["ENOTDIR", "ELOOP", "ENOENT"]);
  if (typeof directory !== "string") {
    walk.opened.push(directory);
    return true;
  }
  if (directory === "ENOENT") return await makeMissing(walk, through);
  const target = await readLinkOr(walk, through);
  if (target !== undefined) {
    if (walk.request.refusesLinks === true) throw beneathError("ELOOP", walk.request, `'${name}' is a link`);
    follow(walk, target);
    return true;
  }
  const other = await openOr(walk, through, 0, ["ENOENT"]);
  if (typeof other === "string") return false;
  const status = await other.stat();
  if (status.isSymbolicLink() || status.isDirectory()) {
    await other.close();
    return false;
  }
  walk.opened.push(other);
  return true;
}

/** Returns undefined for an entry that is no link, or is gone. */
async function readLinkOr(walk: Walk, through: string): Promise<string | undefined> {
  try {
    return await readlink(through);
  } catch (error) {
    if (codeOf(error) === "EINVAL" || codeOf(error) === "ENOENT") return undefined;
    throw inWords(walk, error);
  }
}

function follow(walk: Walk, target: string): void {
  if (++walk.links > MAX_LINKS) throw beneathError("ELOOP", walk.request, "too many links");
  if (!target.startsWith("/")) {
    walk.names.unshift(...target.split("/"));
    return;
  }
  // The link is judged by its text. A link that leads back beneath the root by another way is refused with those that
  // lead out.
  const root = walk.rootPaths.find((candidate) => target === candidate || target.startsWith(`${candidate}/`));
  if (root === undefined) throw beneathError("EXDEV", walk.request, "a link leads out of it");
  const back = Array.from({ length: walk.opened.length - 1 }, () => "..");
  walk.names.unshift(...back, ...target.slice(root.length).split("/"));
}

/**
 * Makes the missing directory. Returns true once it is there and open. Another process may make it at the same time.
 */
async function makeMissing(walk: Walk, through: string): Promise<boolean> {
  const { directoryMode } = walk.request;
  if (directoryMode === undefined) throw beneathError("ENOENT", walk.request, "there is no such file or directory");
  try {
    await mkdir(through, directoryMode);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw inWords(walk, error);
  }
  const made = await openOr(walk, through, O_DIRECTORY, ["ENOTDIR", "ELOOP", "ENOENT"]);
  if (typeof made === "string") return false;
  walk.opened.push(made);
  await restoreMode(made, directoryMode);
  return true;
}

/**
 * Gives back the bits that the umask took, only where the directory looks as if the umask took them: it may have been
 * exchanged for another one. The set-group-ID bit, which it inherits, stays.
 */
async function restoreMode(directory: FileHandle, asked: number): Promise<void> {
  const { mode, uid } = await directory.stat();
  const [now, inherited] = [mode & 0o1777, mode & 0o6000];
  if (now === asked || (now & ~asked) !== 0 || uid !== process.geteuid?.()) return;
  // chmod goes by the path of the open directory: fchmod refuses a descriptor of this kind.
  await chmod(descriptorPath(directory), asked | inherited);
}

async function openOr<Code extends string>(
  walk: Walk,
  through: string,
  flags: number,
  codes: readonly Code[],
): Promise<FileHandle | Code> {
  try {
    return await open(through, O_PATH | O_NOFOLLOW | flags);
  } catch (error) {
    const code = codes.find((candidate) => candidate === codeOf(error));
    if (code !== undefined) return code;
    throw inWords(walk, error);
  }
}

function inWords(walk: Walk, error: unknown): Error {
  return beneathError(codeOf(error) ?? "EIO", walk.request, "the system refused", error);
}

function beneathError(code: string, { root, path }: OpenBeneath, why: string, cause?: unknown): CodedError<string> {
  return new CodedError(code, `${code}: cannot open '${path}' beneath '${root}': ${why}`, { cause });
}
