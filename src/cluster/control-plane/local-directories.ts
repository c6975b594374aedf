import { constants } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { assert } from "../../base/assert.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { LocalDirectories } from "../../control-plane/ports/local-directories.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";

/** Other users of the machine do not get past the root, so that only pods can use the directories that are open to all. */
const ROOT_MODE = 0o700;
const VOLUME_MODE = 0o777;
const NAME = /^[a-z0-9][a-z0-9.-]*$/;
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/** Keeps local directories beneath `root` on this machine, which is the node's. Needs the rights to remove pods' files. */
export function createLocalDirectories({ root, nodeName }: { root: string; nodeName: string }): LocalDirectories {
  const pathOf = (name: string) => {
    assert(NAME.test(name), "the name of a local directory is an object's name");
    return join(root, name);
  };
  return {
    nodeName,
    pathOf,
    async ensure(name) {
      return await explain(async () => {
        await mkdir(root, { recursive: true, mode: ROOT_MODE });
        await mkdir(pathOf(name), { mode: VOLUME_MODE }).catch((error: unknown) => {
          if (codeOf(error) !== "EEXIST") throw error;
        });
        await syncDirectory(pathOf(name), VOLUME_MODE);
        await syncDirectory(root, ROOT_MODE);
      });
    },
    remove: async (name) => await explain(async () => await linuxFiles.remove(pathOf(name))),
    async removeEmpty(name) {
      // What is not empty is somebody's data, and what cannot be removed is tried again at the next start.
      await explain(async () => await linuxFiles.removeEmptyDirectory(pathOf(name)));
    },
    async list() {
      const entries = await readdir(root, { withFileTypes: true }).catch(() => []);
      return entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name)).map(({ name }) => name);
    },
  };
}

/** The reason why the work failed. An error without a code of the system is a bug, and is thrown. */
async function explain(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return messageOf(error);
  }
}

/** Sets the mode, whatever the umask is, and brings the directory to the disk. A link is `ENOTDIR` or `ELOOP`. */
async function syncDirectory(path: string, mode: number): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
