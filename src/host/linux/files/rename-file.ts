import { link, unlink } from "node:fs/promises";

/** See `Files.rename`. Unlike rename(2), link(2) never takes the place of another file. */
export async function renameFile(from: string, to: string): Promise<void> {
  await link(from, to);
  await unlink(from);
}
