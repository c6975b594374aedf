import { setTimeout as delay } from "node:timers/promises";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type { ArchiveImporter } from "./archive-importer.ts";
import type { ImportProgress } from "./import-archive.ts";
import { type ArchiveForm, readArchiveForm, readsZstd } from "./read-archive.ts";

/**
 * `unreadable`: the file cannot be read, or is no archive; `refused`: the runtime cannot use it; `nameless`: no image in
 * it has a name, so that no pod could ask for it.
 */
type LoadErrorCode = "unreadable" | "refused" | "nameless";

interface LoadDeps {
  importer: ArchiveImporter;
  /** True once the runtime's CRI service, too, has the image of that name. */
  isKnown(name: string): Promise<boolean>;
  /** Called while the archive is read. */
  onProgress?(progress: ImportProgress): void;
}

/** Node.js before 22.15 cannot read zstd, and containerd 1.6 neither. */
const ZSTD_HINT = "; it is compressed by zstd, which this Node.js cannot read: decompress it first (zstd -d FILE)";
const KNOWN_POLL_MS = 50;
const KNOWN_POLLS = 200;
/**
 * Loads the images of an archive, docker's or OCI's, and returns their names, also of those that were there. Rejects with
 * a CodedError of LoadErrorCode whose message names the file.
 */
export async function loadArchive(deps: LoadDeps, path: string): Promise<readonly string[]> {
  const { importer, isKnown } = deps;
  const form = await readForm(path);
  const before = await importer.listNamed();
  let said: string;
  try {
    said = await importer.importArchive({ path, form }, (progress) => deps.onProgress?.(progress));
  } catch (error) {
    if (codeOf(error) === "damaged") {
      throw new CodedError<LoadErrorCode>("unreadable", `${path}: ${messageOf(error)}`, { cause: error });
    }
    const hint = form === "zstd" && !readsZstd ? ZSTD_HINT : "";
    const message = `${path}: it is no archive of images that the runtime can read: ${messageOf(error)}${hint}`;
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

/** How the file is written. Rejects with `unreadable` where it is no archive. */
async function readForm(path: string): Promise<ArchiveForm> {
  const refuse = (problem: string, cause?: unknown) =>
    new CodedError<LoadErrorCode>("unreadable", `${path}: ${problem}`, { cause });
  const form = await readArchiveForm(path).catch((error: unknown) => {
    if (codeOf(error) === undefined) throw error;
    throw refuse(codeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error), error);
  });
  if (typeof form !== "string") throw refuse(form.problem);
  return form;
}
