import type { Clock } from "../../../../base/clock.ts";
import { codeOf } from "../../../../base/errors.ts";
import type { DirectoryEntry, Files, NewTree } from "../../../../host/port.ts";
import type { Payload } from "./compute-payload.ts";

/** Leads to the version that is shown; a container that watches it sees each update as one event. */
export const DATA_LINK = "..data";
/** The volume's own names begin so, and no file's may. */
const OWN_PREFIX = "..";

interface PublishDeps {
  files: Pick<Files, "list" | "readLink" | "read" | "createTree" | "link" | "remove">;
  clock: Pick<Clock, "now">;
}

/**
 * Shows the tree in the volume's directory, all of it at once, and gives the name of its version. As upstream's atomic
 * writer (pkg/volume/util/atomic_writer.go) has it:
 *
 *     ..2026_01_02_15_04_05.678/   a version: every file, never changed
 *     ..data -> ..2026_01_02_15_04_05.678
 *     token -> ..data/token        a link for each name at the top
 *
 * The next version is written beside, `..data` is swapped by a rename, and then the links follow. Whatever an attempt
 * that died left is put in order by the next one. A link is replaced or removed, never followed, whoever made it; only one
 * attempt may be under way in a directory.
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

/** The version that is shown; undefined where `..data` leads to anything that is no version of this volume. */
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
  try {
    await files.createTree(`${directory}/${version}`, tree);
  } catch (error) {
    // On a full disk or in a full tmpfs, what there is of it may be all the room that there was.
    await files.remove(`${directory}/${version}`).catch(() => undefined);
    throw error;
  }
  const inTheWay = entries.some(({ name, type }) => name === DATA_LINK && type !== "link");
  if (inTheWay) await files.remove(`${directory}/${DATA_LINK}`);
  await files.link(version, `${directory}/${DATA_LINK}`);
  return version;
}

/** Upstream's form, with a fraction where it has a random number: nothing but the version that is shown is in its way. */
function nextVersion(now: number, current: string | undefined): string {
  const stamp = `${OWN_PREFIX}${new Date(now).toISOString().slice(0, -1).replace(/[-:T]/g, "_")}`;
  return stamp === current ? nextVersion(now + 1, current) : stamp;
}

/** Links for the names at the top that the payload has, and none for those that it has no longer. */
async function showNames(
  files: PublishDeps["files"],
  directory: string,
  { payload, entries }: { payload: Payload; entries: readonly DirectoryEntry[] },
): Promise<void> {
  const names = new Set([...payload.keys()].map((path) => path.split("/", 1)[0] ?? path));
  const found = new Map(entries.map(({ name, type }) => [name, type]));
  for (const name of names) {
    const path = `${directory}/${name}`;
    const target = `${DATA_LINK}/${name}`;
    const type = found.get(name);
    // A directory is there for another volume to be mounted on, and that one is what the container sees.
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

/** Relative paths; undefined where there is anything but files and directories. */
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
