import { constants } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";
import { fileError } from "../../file-error.ts";
import type { OpenedFile } from "../../opened-file.ts";
import type { DirectoryEntry } from "../../port.ts";
import { descriptorPath } from "../mounts/held-place.ts";
import { openBeneath } from "../mounts/open-beneath.ts";
import { typeOf } from "./file-type.ts";

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
const MAX_DIRECTORY_ENTRIES = 100_000;

/**
 * See `Files.openBeneath`. The type of the file is known before it is opened for reading, by a handle that no device
 * notices.
 */
export async function openFileBeneath(
  root: string,
  path: string,
  options: { readonly refusesLinks?: boolean } = {},
): Promise<OpenedFile> {
  const place = await openBeneath({ root, path, ...options });
  try {
    const status = await place.stat();
    if (status.isDirectory()) throw fileError("EISDIR", "open", `${root}/${path}`);
    if (!status.isFile()) throw fileError("EINVAL", "open", `${root}/${path}`);
    return await asOpenedFile(await open(descriptorPath(place), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  } finally {
    await place.close();
  }
}

async function asOpenedFile(handle: FileHandle): Promise<OpenedFile> {
  try {
    const { dev, ino } = await handle.stat({ bigint: true });
    return {
      identity: `${dev}:${ino}`,
      async status() {
        const { size, mtimeMs } = await handle.stat();
        return { sizeBytes: size, modifiedAt: mtimeMs };
      },
      async read(position, maxBytes) {
        const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(maxBytes), 0, maxBytes, position);
        return buffer.subarray(0, bytesRead);
      },
      close: async () => await handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** See `Files.listBeneath`. */
export async function listFileBeneath(root: string, path: string): Promise<DirectoryEntry[]> {
  const place = await openBeneath({ root, path });
  try {
    if (!(await place.stat()).isDirectory()) throw fileError("ENOTDIR", "scandir", `${root}/${path}`);
    return await listDirectory(descriptorPath(place), `${root}/${path}`);
  } finally {
    await place.close();
  }
}

/** Lists the entries, sorted by code unit. `shown` is the path in an error. */
export async function listDirectory(path: string, shown = path): Promise<DirectoryEntry[]> {
  const entries: DirectoryEntry[] = [];
  const directory = await opendir(path, { bufferSize: 256 });
  try {
    for (let entry = await directory.read(); entry !== null; entry = await directory.read()) {
      if (entries.length >= MAX_DIRECTORY_ENTRIES) throw fileError("EOVERFLOW", "scandir", shown);
      entries.push({ name: entry.name, type: typeOf(entry) });
    }
  } finally {
    // Nothing waits for the close of a directory.
    directory.closeSync();
  }
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}
