import { setTimeout as delay } from "node:timers/promises";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import type { ArchiveImporter } from "./archive-importer.ts";
import type { ImportProgress } from "./import-archive.ts";
import { type OpenArchive, openArchive, readsZstd } from "./read-archive.ts";
import { readPlatforms } from "./read-platforms.ts";

/**
 * `unreadable`: the file cannot be read, or is no archive; `refused`: the runtime cannot use it; `nameless`: no image in
 * it has a name, so that no pod could ask for it.
 */
type LoadErrorCode = "unreadable" | "refused" | "nameless";

interface LoadDeps {
  importer: ArchiveImporter;
  /** True once the runtime's CRI service, too, has the image of that name. */
  isKnown(name: string): Promise<boolean>;
  /** The platform whose images this machine runs, as `linux/amd64`. */
  readonly platform: string;
  /** Called while the archive is read. */
  onProgress?(progress: ImportProgress): void;
}

/** Where an archive is, and how people call it. */
export interface NamedArchive {
  readonly path: string;
  readonly title: string;
}

/** Node.js before 22.15 cannot read zstd, and containerd 1.6 neither. */
const ZSTD_REASON = "it is compressed by zstd, which this Node.js cannot read: decompress it first (zstd -d FILE)";
const NO_PLATFORMS: readonly string[] = [];
const KNOWN_POLL_MS = 50;
const KNOWN_POLLS = 200;
/**
 * Loads the images of an archive, docker's or OCI's, and returns their names, also of those that were there. Rejects with
 * a CodedError of LoadErrorCode whose message names the archive.
 */
export async function loadArchive(deps: LoadDeps, named: NamedArchive): Promise<readonly string[]> {
  const { importer, isKnown } = deps;
  const archive = await open(named);
  const before = await importer.listNamed();
  let said: string;
  try {
    said = await importer.importArchive(archive, (progress) => deps.onProgress?.(progress));
  } catch (error) {
    if (codeOf(error) === "damaged") {
      throw new CodedError<LoadErrorCode>("unreadable", `${named.title}: ${messageOf(error)}`, { cause: error });
    }
    const reason = await explainRefusal(deps, named, archive, messageOf(error));
    throw new CodedError<LoadErrorCode>("refused", `${named.title}: ${reason}`, { cause: error });
  } finally {
    archive.bytes.destroy();
  }
  const after = await importer.listNamed();
  const names = [...after]
    .filter(([name, digest]) => before.get(name) !== digest || said.includes(name))
    .map(([name]) => name);
  if (names.length === 0) {
    const mend = "save it by its name (docker save NAME:TAG)";
    throw new CodedError<LoadErrorCode>("nameless", `${named.title}: no image in it has a name; ${mend}`);
  }
  for (const name of names) await untilKnown(isKnown, name);
  return names.sort();
}

/** Waits for a while: a pod that is made right now may ask for the image. */
async function untilKnown(isKnown: LoadDeps["isKnown"], name: string): Promise<void> {
  for (let polls = 0; polls < KNOWN_POLLS && !(await isKnown(name)); polls += 1) await delay(KNOWN_POLL_MS);
}

/** Why the runtime has refused an archive, before its own words, which tell it to those who know its code. */
async function explainRefusal(
  { platform }: LoadDeps,
  { path }: NamedArchive,
  { form }: OpenArchive,
  said: string,
): Promise<string> {
  const words = `the runtime cannot read it as an archive of images: ${said}`;
  if (form === "zstd" && !readsZstd) return `${ZSTD_REASON}; ${words}`;
  // A pipe cannot be read again, nor a damaged file to its end: then there are the runtime's words alone.
  const platforms: readonly string[] = await readPlatforms(path).catch(() => NO_PLATFORMS);
  if (platforms.length === 0 || platforms.includes(platform)) return words;
  const mend = `build or pull it with --platform ${platform}, and save that`;
  return `its images are for ${platforms.join(", ")}, and this machine runs those for ${platform}: ${mend}`;
}

/** Rejects with `unreadable` where it is no archive. */
async function open({ path, title }: NamedArchive): Promise<OpenArchive> {
  const refuse = (problem: string, cause?: unknown) =>
    new CodedError<LoadErrorCode>("unreadable", `${title}: ${problem}`, { cause });
  const archive = await openArchive(path).catch((error: unknown) => {
    if (codeOf(error) === undefined) throw error;
    throw refuse(codeOf(error) === "ENOENT" ? "there is no such file" : messageOf(error), error);
  });
  if ("problem" in archive) throw refuse(archive.problem);
  return archive;
}
