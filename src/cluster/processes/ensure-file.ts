import { readFile, rename, rm, writeFile } from "node:fs/promises";

/**
 * Makes the file say the text, for its owner only. A file that says it already stays as it is, so that what runs can be
 * started again although the disk is full; and a write that fails leaves the file as it was.
 */
export async function ensureFile(path: string, text: string): Promise<void> {
  const existing = await readFile(path, "utf8").catch(() => undefined);
  if (existing === text) return;
  const fresh = `${path}.new`;
  try {
    await writeFile(fresh, text, { mode: 0o600 });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}
