import { open, readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { ConfigurationFile, ConfigurationSources } from "../../config/compose-configuration.ts";

type FilesResult =
  | { ok: true; sources: Pick<ConfigurationSources, "file" | "dropIns"> }
  | { ok: false; message: string };

/** The bound of a file. A configuration has some kilobytes, and a longer file is the wrong one. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_DROP_INS = 1_000;

/** Reads the file of --config and the drop-ins of --config-dir. An empty name means that the flag was not given. */
export async function readConfigurationFiles(
  flags: { config: string; configDir: string },
  workingDirectory: string,
): Promise<FilesResult> {
  try {
    const file = flags.config === "" ? undefined : await readFile(resolve(workingDirectory, flags.config), "--config");
    const dropIns = flags.configDir === "" ? [] : await readDropIns(resolve(workingDirectory, flags.configDir));
    return { ok: true, sources: { ...(file === undefined ? {} : { file }), dropIns } };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

/** Reads all files below the directory whose names end in `.conf`, sorted by path as kubelet walks them. */
async function readDropIns(directory: string): Promise<ConfigurationFile[]> {
  let names: string[];
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => !entry.isDirectory() && entry.name.endsWith(".conf"));
    names = files.map((entry) => join(entry.parentPath, entry.name)).sort(compareAsWalked);
  } catch (error) {
    throw new Error(`failed to read the kubelet config directory ${directory} (--config-dir): ${explain(error)}`);
  }
  if (names.length > MAX_DROP_INS) {
    throw new Error(`${directory} (--config-dir) has more than ${MAX_DROP_INS} files ending in .conf`);
  }
  const dropIns: ConfigurationFile[] = [];
  for (const name of names) dropIns.push(await readFile(name, "--config-dir"));
  return dropIns;
}

/** Compares paths directory by directory, each in byte order. */
function compareAsWalked(a: string, b: string): number {
  const [left, right] = [a.replaceAll("/", "\0"), b.replaceAll("/", "\0")];
  return left < right ? -1 : 1;
}

async function readFile(path: string, flag: string): Promise<ConfigurationFile> {
  const fail = (why: string) => new Error(`failed to load kubelet config file, path: ${path} (${flag}): ${why}`);
  try {
    const handle = await open(path, "r");
    try {
      const status = await handle.stat();
      if (!status.isFile()) throw fail(`${basename(path)} is not a regular file`);
      if (status.size > MAX_FILE_BYTES) throw fail(`the file is longer than ${MAX_FILE_BYTES} bytes`);
      const text = await handle.readFile("utf8");
      if (text.trim() === "") throw fail("the file is empty");
      return { path, text };
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw codeOf(error) === undefined ? error : fail(explain(error));
  }
}

function explain(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return "no such file or directory";
    case "EACCES":
      return "permission denied";
    case "ENOTDIR":
      return "not a directory";
    default:
      return messageOf(error);
  }
}
