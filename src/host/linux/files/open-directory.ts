import { constants } from "node:fs";
import { isAbort } from "../../../base/abort.ts";
import { assert } from "../../../base/assert.ts";
import { CodedError, codeOf } from "../../../base/errors.ts";
import { fileError } from "../../file-error.ts";
import type { OpenedDirectory } from "../../port.ts";
import { descriptorPath } from "../mounts/held-place.ts";
import { openBeneath } from "../mounts/open-beneath.ts";
import { compressFile } from "./compress-file.ts";
import { listDirectory } from "./open-file.ts";
import { removeTree } from "./remove-tree.ts";
import { renameFile } from "./rename-file.ts";

const { S_IFMT, S_IFDIR } = constants;

/** See `Files.openDirectoryBeneath`. Every step goes through the open directory, by its path among this process's files. */
export async function openDirectoryBeneath(root: string, path: string): Promise<OpenedDirectory> {
  const place = await openBeneath({ root, path, refusesLinks: true });
  const shown = `${root}/${path}`;
  try {
    if (((await place.stat()).mode & S_IFMT) !== S_IFDIR) throw fileError("ENOTDIR", "open", shown);
  } catch (error) {
    await place.close();
    throw error;
  }
  const directory = descriptorPath(place);
  const through = (name: string) => {
    assert(name !== "" && name !== "." && name !== ".." && !name.includes("/"), "an entry has a plain name");
    return `${directory}/${name}`;
  };
  const inWords = async (operation: string, name: string, step: () => Promise<void>) => {
    try {
      await step();
    } catch (error) {
      if (isAbort(error)) throw error;
      const code = codeOf(error) ?? "EIO";
      throw new CodedError(code, `${code}: cannot ${operation} '${shown}/${name}'`, { cause: error });
    }
  };
  return {
    list: async () => await listDirectory(directory, shown),
    remove: async (name) => await inWords("remove", name, async () => await removeTree(through(name))),
    rename: async (from, to) => await inWords("rename", from, async () => await renameFile(through(from), through(to))),
    async compress(from, { name, unfinished }, limits) {
      const to = { path: through(name), unfinished: through(unfinished) };
      await inWords("compress", from, async () => await compressFile(through(from), to, limits));
    },
    close: async () => await place.close(),
  };
}
