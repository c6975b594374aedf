import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type { ArchiveImporter } from "../containerd/image-importer.ts";

/**
 * `unreadable`: the file cannot be read, or is no archive; `refused`: the runtime cannot use it; `nameless`: no image in
 * it has a name, so that no pod could ask for it.
 */
type LoadErrorCode = "unreadable" | "refused" | "nameless";

interface LoadDeps {
  importer: ArchiveImporter;
  /** True once the runtime's CRI service, too, has the image of that name. */
  isKnown(name: string): Promise<boolean>;
}

const KNOWN_POLL_MS = 50;
const KNOWN_POLLS = 200;
const HEAD_BYTES = 512;
/** `ustar` of a tar file, and the first bytes of what gzip and zstd wrote. */
const TAR = { offset: 257, bytes: Buffer.from("ustar") };
const COMPRESSED = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/**
 * Loads the images of an archive, docker's or OCI's, and returns their names, also of those that were there. Rejects with
 * a CodedError of LoadErrorCode whose message names the file.
 */
export async function loadArchive({ importer, isKnown }: LoadDeps, path: string): Promise<readonly string[]> {
  const problem = await whyNoArchive(path);
  if (problem !== undefined) throw new CodedError<LoadErrorCode>("unreadable", `${path}: ${problem}`);
  const before = await importer.listNamed();
  let said: string;
  try {
    said = await importer.importArchive(path);
  } catch (error) {
    const message = `${path}: it is no archive of images that the runtime can read: ${messageOf(error)}`;
    throw new CodedError<LoadErrorCode>("refused", message, { cause: error });
  }
  const after = await importer.listNamed();
  const names = [...after]
    .filter(([name, digest]) => before.get(name) !== digest || said.includes(name))
    .map(([name]) => name);
  if (names.length === 0) {
    const mend = "save it by its name (docker save NAME:TAG)";
    throw new CodedError<LoadErrorCode>("nameless", `${path}: no image in it has a name; ${mend}`);
  }
  for (const name of names) await untilKnown(isKnown, name);
  return names.sort();
}

/** Waits for a while: a pod that is made right now may ask for the image. */
async function untilKnown(isKnown: LoadDeps["isKnown"], name: string): Promise<void> {
  for (let polls = 0; polls < KNOWN_POLLS && !(await isKnown(name)); polls += 1) await delay(KNOWN_POLL_MS);
}

/** Why the file is no archive, by its first bytes; undefined where it may be one. */
async function whyNoArchive(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, "r");
    try {
      const status = await file.stat();
      if (status.isDirectory()) return "it is a directory: name the archive itself";
      if (!status.isFile()) return "it is no regular file";
      if (status.size === 0) return "it is empty";
      const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return isArchive(buffer.subarray(0, bytesRead)) ? undefined : "it is neither a tar file nor a compressed one";
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return codeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error);
  }
}

function isArchive(head: Buffer): boolean {
  if (COMPRESSED.some((magic) => head.subarray(0, magic.length).equals(magic))) return true;
  return head.subarray(TAR.offset, TAR.offset + TAR.bytes.length).equals(TAR.bytes);
}
