import { constants } from "node:fs";
import { chmod } from "node:fs/promises";
import { fileError } from "../../file-error.ts";
import { descriptorPath } from "../mounts/held-place.ts";
import { openBeneath } from "../mounts/open-beneath.ts";

const { S_IFMT, S_IFDIR } = constants;
/** What a mode says, without the set-group-ID bit that a directory takes over. */
const PERMISSIONS = 0o1777;

/** See `Files.makeDirectoryBeneath`; the root is there. The mode is set through the directory that is held open. */
export async function makeDirectoryBeneath(root: string, path: string, mode: number): Promise<void> {
  const place = await openBeneath({ root, path, directoryMode: mode, refusesLinks: true });
  try {
    const status = await place.stat();
    if ((status.mode & S_IFMT) !== S_IFDIR) throw fileError("ENOTDIR", "mkdir", `${root}/${path}`);
    if ((status.mode & PERMISSIONS) !== mode) await chmod(descriptorPath(place), mode);
  } finally {
    await place.close();
  }
}
