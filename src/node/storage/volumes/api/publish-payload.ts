import type { Clock } from "../../../../base/clock.ts";
import { codeOf } from "../../../../base/errors.ts";
import type { DirectoryEntry, Files, NewTree } from "../../../../host/port.ts";
import type { Payload } from "./compute-payload.ts";

/** The link to the version that is shown. A container that watches it sees each update as one event. */
export const DATA_LINK = "..data";
/** The prefix of the volume's own names, which no file may have. */
const OWN_PREFIX = "..";

interface PublishDeps {
  files: Pick<Files, "list" | "readLink" | "read" | "createTree" | "link" | "remove">;
  clock: Pick<Clock, "now">;
}

/**
 * Shows the tree in the volume's directory, all of it at once, and returns the name of its version. The layout is that of
 * upstream's atomic writer (pkg/volume/util/atomic_writer.go):
 *
 *     ..2026_01_02_15_04_05.678/   a version: every file, never changed
 *     ..data -> ..2026_01_02_15_04_05.678
 *     token -> ..data/token        a link for each name at the top
 *
 * The next version is written beside the current one, `..data` is replaced by a rename, and then the links follow. The next
 * attempt repairs what an interrupted attempt has left. A link is replaced or removed and never followed, whoever made it.
 * Only one attempt may be under way in a directory.
 */
export async function publishPayload(deps: PublishDeps, directory: string, tree: NewTree): Promise<string> {
  const { files } = deps;
  const entries = await files.list(directory);
  const current = await readCurrent(files, directory, entries);
  const leftovers = entries.filter(({ name }) => isOwn(name) && name !== DATA_LINK && name !== current);
  for (const { name } of leftovers) await files.remove(`${directory}/${name}`);

  const isShown = current !== undefined && (await holdsPayload(files, `${directory}/${current}`, tree.files));
  const version = isShown ? current : await showVersion(deps, directory, { tree, entries, current });
  await showNames(files, directory, { payload: tree.files, entries });
  if (current !== undefined && current !== version) await files.remove(`${directory}/${current}`);
  return version;
}

/**
 * Does the same in a directory that is known to be empty, with one call of the port. A failure takes the unfinished version
 * away again; links that were made stay, for the next attempt to repair.
 */
export async function publishFirstPayload(deps: PublishDeps, directory: string, tree: NewTree): Promise<string> {
  const version = nextVersion(deps.clock.now(), undefined);
  const names = [...topNamesOf(tree.files)].map((name) => [name, `${DATA_LINK}/${name}`] as const);
  await makeVersion(deps.files, `${directory}/${version}`, {
    ...tree,
    links: new Map([[DATA_LINK, version], ...names]),
  });
  return version;
}

/** The version that is shown; undefined where `..data` does not lead to a version of this volume. */
async function readCurrent(
  files: PublishDeps["files"],
  directory: string,
  entries: readonly DirectoryEntry[],
): Promise<string | undefined> {
  const target = await files.readLink(`${directory}/${DATA_LINK}`);
  const isVersion = entries.some(({ name, type }) => name === target && type === "directory" && isOwn(name));
  return isVersion ? target : undefined;
}

function isOwn(name: string): boolean {
  return name.startsWith(OWN_PREFIX);
}

interface Showing {
  tree: NewTree;
  entries: readonly DirectoryEntry[];
  current: string | undefined;
}

async function showVersion(deps: PublishDeps, directory: string, showing: Showing): Promise<string> {
  const { files } = deps;
  const { tree, entries, current } = showing;
  const version = nextVersion(deps.clock.now(), current);
  await makeVersion(files, `${directory}/${version}`, tree);
  const inTheWay = entries.some(({ name, type }) => name === DATA_LINK && type !== "link");
  if (inTheWay) await files.remove(`${directory}/${DATA_LINK}`);
  await files.link(version, `${directory}/${DATA_LINK}`);
  return version;
}

async function makeVersion(files: PublishDeps["files"], path: string, tree: NewTree): Promise<void> {
  try {
    await files.createTree(path, tree);
  } catch (error) {
    // On a full disk or tmpfs, the unfinished version may take up all the room that the next attempt needs.
    await files.remove(path).catch(() => undefined);
    throw error;
  }
}

/** Names a version as upstream does, with milliseconds in place of a random number. Only the current version may clash. */
function nextVersion(now: number, current: string | undefined): string {
  const stamp = `${OWN_PREFIX}${new Date(now).toISOString().slice(0, -1).replace(/[-:T]/g, "_")}`;
  return stamp === current ? nextVersion(now + 1, current) : stamp;
}

/** Makes a link for each top-level name of the payload, and removes the links of names that it does not have any more. */
async function showNames(
  files: PublishDeps["files"],
  directory: string,
  { payload, entries }: { payload: Payload; entries: readonly DirectoryEntry[] },
): Promise<void> {
  const names = topNamesOf(payload);
  const found = new Map(entries.map(({ name, type }) => [name, type]));
  for (const name of names) {
    const path = `${directory}/${name}`;
    const target = `${DATA_LINK}/${name}`;
    const type = found.get(name);
    // A directory is a mount point for another volume, which hides the file of that name in any case.
    if (type === "directory") continue;
    if (type === "link" && (await files.readLink(path)) === target) continue;
    if (type !== undefined && type !== "link") await files.remove(path);
    await files.link(target, path);
  }
  for (const [name, type] of found) {
    if (type !== "link" || isOwn(name) || names.has(name)) continue;
    const target = await files.readLink(`${directory}/${name}`);
    if (target === `${DATA_LINK}/${name}`) await files.remove(`${directory}/${name}`);
  }
}

function topNamesOf(payload: Payload): ReadonlySet<string> {
  return new Set([...payload.keys()].map((path) => path.split("/", 1)[0] ?? path));
}

/** Whether the directory holds these files with this content, and no others. */
async function holdsPayload(files: PublishDeps["files"], directory: string, payload: Payload): Promise<boolean> {
  const found = await listFiles(files, directory);
  if (found === undefined || found.length !== payload.size) return false;
  for (const path of found) {
    const file = payload.get(path);
    if (file === undefined || !(await holdsData(files, `${directory}/${path}`, file.data))) return false;
  }
  return true;
}

/** Lists files by their relative paths; undefined where there is anything but files and directories. */
async function listFiles(files: PublishDeps["files"], directory: string): Promise<string[] | undefined> {
  const paths: string[] = [];
  for (const { name, type } of await files.list(directory)) {
    if (type === "file") paths.push(name);
    else if (type !== "directory") return undefined;
    else {
      const beneath = await listFiles(files, `${directory}/${name}`);
      if (beneath === undefined) return undefined;
      paths.push(...beneath.map((path) => `${name}/${path}`));
    }
  }
  return paths;
}

async function holdsData(files: PublishDeps["files"], path: string, data: Buffer): Promise<boolean> {
  try {
    return (await files.read(path, data.length)).equals(data);
  } catch (error) {
    if (codeOf(error) === "EFBIG") return false;
    throw error;
  }
}
