import { readFile } from "node:fs/promises";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";

/**
 * Makes the file say the text, for its owner only. A file that says it already stays as it is, so that what runs can be
 * started again although the disk is full; and a write that fails leaves the file as it was.
 */
export async function ensureFile(path: string, text: string): Promise<void> {
  const existing = await readFile(path, "utf8").catch(() => undefined);
  if (existing !== text) await linuxFiles.writeAtomically(path, text, 0o600);
}
