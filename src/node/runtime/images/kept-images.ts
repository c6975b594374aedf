import { createHash } from "node:crypto";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";

/** The hash of the name, because a name may be longer than a file's. */
const FILE_NAME = /^[0-9a-f]{64}$/;
const MAX_NAME_BYTES = 4096;

/**
 * Reads the names of the images that stay even where space is short: each file of the directory holds one. No directory, or
 * one that is not there, names none. Rejects where it, or a file in it, cannot be read.
 */
export async function readKeptImages(
  files: Pick<Files, "list" | "read">,
  directory: string | undefined,
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  if (directory === undefined) return names;
  for (const { name } of (await unlessAbsent(files.list(directory))) ?? []) {
    if (!FILE_NAME.test(name)) continue;
    const text = await unlessAbsent(files.read(`${directory}/${name}`, MAX_NAME_BYTES));
    if (text !== undefined) names.add(text.toString());
  }
  return names;
}

/** Adds an image, by its full name with a tag or digest, as the runtime lists it. The directory is made. */
export async function keepImage(
  files: Pick<Files, "makeDirectory" | "writeAtomically">,
  directory: string,
  name: string,
): Promise<void> {
  await files.makeDirectory(directory, 0o700);
  await files.writeAtomically(pathOf(directory, name), name, 0o600);
}

/** Takes an image out again. One that is not kept is fine. */
export async function stopKeepingImage(files: Pick<Files, "remove">, directory: string, name: string): Promise<void> {
  await files.remove(pathOf(directory, name));
}

function pathOf(directory: string, name: string): string {
  return `${directory}/${createHash("sha256").update(name).digest("hex")}`;
}

async function unlessAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
