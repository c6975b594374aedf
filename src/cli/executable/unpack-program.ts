import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";

/** The files that a single executable carries, by their paths beneath the program's directory. */
export interface CarriedFiles {
  /** A hash of all paths and contents. It names the directory, so that versions do not meet. */
  readonly id: string;
  readonly paths: readonly string[];
  read(path: string): Uint8Array;
}

/** Directories of other versions that stay, because programs that run read from them. */
const KEPT_VERSIONS = 3;
const DIRECTORY_MODE = 0o755;
const FILE_MODE = 0o644;
const WRITABLE_BY_OTHERS = 0o022;
/** Begins the name of a directory that is not complete, or not the program's any more. */
const UNFINISHED = ".";
const ABANDONED_AFTER_MS = 3_600_000;

/**
 * Brings the files into a directory of their own beneath `base`, and returns it. What is there is compared byte by byte at
 * each start, and written anew where it differs. Nobody but this user and root may be able to write there, and nothing
 * there is a link: else it throws `unsafe-directory`, and `not-written` where it cannot write.
 */
export function unpackProgram(base: string, files: CarriedFiles, nowMs: number): string {
  try {
    mkdirSync(base, { recursive: true, mode: DIRECTORY_MODE });
  } catch (error) {
    throw notWritten(base, error);
  }
  refuseUnsafePath(base);
  const directory = join(base, files.id);
  if (isWhole(directory, files)) return directory;
  try {
    replaceDirectory(directory, files);
    removeOthers(base, files.id, nowMs);
  } catch (error) {
    throw notWritten(base, error);
  }
  return directory;
}

function notWritten(base: string, error: unknown): CodedError<"not-written"> {
  const mend = "NODELET_PROGRAM_DIRECTORY names another directory";
  return new CodedError("not-written", `the program cannot be unpacked into ${base}: ${messageOf(error)}; ${mend}`);
}

/** Walks to the directory from the root. A link on the way is as safe as the directory that it is in. */
function refuseUnsafePath(base: string): void {
  if (lstatSync(base).isSymbolicLink()) throw unsafe(base, "it is a link");
  for (let path = realpathSync(base); ; path = dirname(path)) {
    const problem = problemOf(lstatSync(path));
    if (problem !== undefined) throw unsafe(path, problem);
    if (path === dirname(path)) return;
  }
}

function unsafe(path: string, problem: string): CodedError<"unsafe-directory"> {
  const mend = "mend that, or name another directory in NODELET_PROGRAM_DIRECTORY";
  return new CodedError("unsafe-directory", `${path} is no safe place for a program: ${problem}; ${mend}`);
}

/** Says why others than this user and root could change a file or directory; undefined where they cannot. */
function problemOf({ uid, mode }: { uid: number; mode: number }): string | undefined {
  if (uid !== 0 && uid !== process.geteuid?.()) return `it belongs to the user ${uid}`;
  return (mode & WRITABLE_BY_OTHERS) === 0 ? undefined : "other users may write to it";
}

/** True where each file is there, safe, and equal to the one that is carried. */
function isWhole(directory: string, { paths, read }: CarriedFiles): boolean {
  try {
    const areDirectoriesSafe = directoriesOf(paths).every((path) => {
      const status = lstatSync(join(directory, path));
      return status.isDirectory() && problemOf(status) === undefined;
    });
    return areDirectoriesSafe && paths.every((path) => isEqual(join(directory, path), read(path)));
  } catch (error) {
    // A link where a file is to be, or nothing.
    if (["ENOENT", "ENOTDIR", "ELOOP"].includes(String(codeOf(error)))) return false;
    throw error;
  }
}

function isEqual(path: string, content: Uint8Array): boolean {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const status = fstatSync(file);
    const isCandidate = status.isFile() && status.size === content.length && problemOf(status) === undefined;
    return isCandidate && readFileSync(file).equals(content);
  } finally {
    closeSync(file);
  }
}

/** Writes the directory beside its place and moves it there whole, so that nobody ever finds half of one. */
function replaceDirectory(directory: string, files: CarriedFiles): void {
  const next = `${dirname(directory)}/${UNFINISHED}${randomBytes(8).toString("hex")}`;
  try {
    for (const path of directoriesOf(files.paths)) {
      mkdirSync(join(next, path));
      chmodSync(join(next, path), DIRECTORY_MODE);
    }
    for (const path of files.paths) writeDurably(join(next, path), files.read(path));
    // A damaged one, or one of another process that was faster, makes room.
    moveAway(directory, `${next}-replaced`);
    renameSync(next, directory);
    syncDirectory(dirname(directory));
  } catch (error) {
    rmSync(next, { recursive: true, force: true });
    // Another process was faster between the two steps.
    if (!isWhole(directory, files)) throw error;
  }
  rmSync(`${next}-replaced`, { recursive: true, force: true });
}

function moveAway(directory: string, place: string): void {
  try {
    renameSync(directory, place);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function writeDurably(path: string, content: Uint8Array): void {
  const file = openSync(path, "wx", FILE_MODE);
  try {
    writeFileSync(file, content);
    fchmodSync(file, FILE_MODE);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The directories of the files, each after the one that it is in. The first is the program's own: an empty path. */
function directoriesOf(paths: readonly string[]): string[] {
  const found = new Set([""]);
  for (const path of paths) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, index) => {
      found.add(parts.slice(0, index + 1).join("/"));
    });
  }
  return [...found].sort();
}

/** Removes what older versions and interrupted starts have left, but for the newest few. */
function removeOthers(base: string, id: string, nowMs: number): void {
  const others = readdirSync(base)
    .filter((name) => name !== id)
    .map((name) => ({ name, changedMs: lstatSync(join(base, name)).mtimeMs }))
    .toSorted((a, b) => b.changedMs - a.changedMs);
  const versions = others.filter(({ name }) => !name.startsWith(UNFINISHED)).slice(KEPT_VERSIONS);
  const abandoned = others.filter(
    ({ name, changedMs }) => name.startsWith(UNFINISHED) && nowMs - changedMs > ABANDONED_AFTER_MS,
  );
  for (const { name } of [...versions, ...abandoned]) rmSync(join(base, name), { recursive: true, force: true });
}
