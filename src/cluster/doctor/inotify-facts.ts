import { readdir, readFile, readlink, stat } from "node:fs/promises";

/** How many inotify instances root may have, and has, in all processes together. */
export interface InotifyFacts {
  readonly limit: number;
  /** The processes of other namespaces that cannot be seen are not counted. */
  readonly used: number;
}

const ROOT = 0;

/** Reads both; undefined where they cannot be read, which takes root. */
export async function readInotifyFacts(): Promise<InotifyFacts | undefined> {
  if (process.geteuid?.() !== ROOT) return undefined;
  const limit = Number(await readFile("/proc/sys/fs/inotify/max_user_instances", "utf8").catch(() => Number.NaN));
  if (!Number.isSafeInteger(limit)) return undefined;
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  let used = 0;
  for (const pid of pids) used += await countInstances(pid);
  return { limit, used };
}

/** A process that has ended meanwhile has none. Two descriptors of one instance count twice, which nobody opens. */
async function countInstances(pid: string): Promise<number> {
  const directory = `/proc/${pid}/fd`;
  const status = await stat(directory).catch(() => undefined);
  if (status?.uid !== ROOT) return 0;
  const names = await readdir(directory).catch((): string[] => []);
  const targets = await Promise.all(names.map(async (name) => await readlink(`${directory}/${name}`).catch(() => "")));
  return targets.filter((target) => target === "anon_inode:inotify").length;
}
