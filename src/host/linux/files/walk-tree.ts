import { constants } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";
import { codeOf } from "../../../base/errors.ts";
import { descriptorPath, O_PATH } from "../mounts/held-place.ts";

const { O_DIRECTORY, O_NOFOLLOW } = constants;
/** The number of names that are read before the files are looked at. */
const BATCH = 256;

/**
 * Opens a directory from `root` again, name by name without following links, so that no descriptors are kept, however
 * deep it is. Undefined for a name that is gone, or that is no directory.
 */
export async function openBelow(root: FileHandle, relative: string): Promise<FileHandle | undefined> {
  let at = await open(`${descriptorPath(root)}/.`, O_PATH | O_DIRECTORY);
  for (const name of relative.split("/").filter((part) => part !== "")) {
    const above = at;
    try {
      at = await open(bytesOf(above, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "ELOOP"].includes(codeOf(error) ?? "")) return undefined;
      throw error;
    } finally {
      await above.close();
    }
  }
  return at;
}

/**
 * Reads the names in batches, because a hundred thousand at once would hold everything else up. Names are byte by byte,
 * as latin1.
 */
export async function* readBatches(directory: FileHandle): AsyncGenerator<string[]> {
  let names: string[] = [];
  for await (const { name } of await opendir(descriptorPath(directory), { encoding: "latin1", bufferSize: BATCH })) {
    names.push(name);
    if (names.length < BATCH) continue;
    yield names;
    names = [];
  }
  yield names;
}

/** The path to a name in an open directory. Names are latin1, because a container may use names that are no UTF-8. */
export function bytesOf(directory: FileHandle, name: string): Buffer {
  return Buffer.from(`${descriptorPath(directory)}/${name}`, "latin1");
}
