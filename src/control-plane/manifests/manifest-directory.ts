import { createHash } from "node:crypto";
import { codeOf, messageOf } from "../../base/errors.ts";
import { findForeignWriter } from "../../host/foreign-writer.ts";
import type { FileStatus, Files } from "../../host/port.ts";
import type { FileObjects } from "./plan-manifests.ts";
import { readManifestObjects } from "./read-objects.ts";

/** The manifests of a directory. A file that did not change is the same value as at the last look. */
export interface ManifestDirectory {
  /** Reads what changed. Resolves with the reason where the directory cannot be read: then nothing is known of it. */
  read(): Promise<readonly FileObjects[] | { readonly problem: string }>;
}

interface DirectoryOptions {
  readonly path: string;
  /** Take nothing from a file or directory that others than root may change. */
  readonly refusesForeign: boolean;
}

interface KnownFile {
  /** The status of the file under which it was read; empty to read it again in any case. */
  readonly version: string;
  readonly contentHash: string;
  readonly manifest: FileObjects;
}

/** The longest manifest, as for static pods. */
const MAX_BYTES = 10 * 1024 * 1024;
/** The limit of files; those beyond it, in the order of their names, are not read, and the directory says so. */
const MAX_FILES = 1_000;
const READ_ATTEMPTS = 3;

/** Reads hidden files and subdirectories as little as the node agent does. */
export function createManifestDirectory(
  files: Pick<Files, "list" | "stat" | "read">,
  { path, refusesForeign }: DirectoryOptions,
): ManifestDirectory {
  let known = new Map<string, KnownFile>();

  const judge = (status: FileStatus) => {
    const writer = refusesForeign ? findForeignWriter(status) : undefined;
    return writer && `refused: ${writer}`;
  };
  const readFile = async (file: string): Promise<KnownFile | undefined> => {
    const before = known.get(file);
    const bad = (problem: string): KnownFile => {
      return { version: "", contentHash: "", manifest: keepSame(before, { file, objects: [], problem }) };
    };
    try {
      const status = await files.stat(`${path}/${file}`);
      if (status === undefined) return bad("it is a link that leads to nothing");
      if (status.type === "directory") return undefined;
      if (status.type !== "file") return bad("it is no regular file");
      const refusal = judge(status);
      if (refusal !== undefined) return bad(refusal);
      if (before !== undefined && before.version === status.version) return before;
      const { data, version } = await readSettled(files, `${path}/${file}`, status.version);
      const contentHash = createHash("sha256").update(data).digest("hex");
      if (before?.contentHash === contentHash) return { ...before, version };
      const { objects, errors } = readManifestObjects(data);
      const problem = errors.length === 0 ? undefined : joinErrors(errors);
      return { version, contentHash, manifest: { file, objects: problem === undefined ? objects : [], problem } };
    } catch (error) {
      if (codeOf(error) === "ENOENT") return undefined;
      if (codeOf(error) === undefined) throw error;
      return bad(messageOf(error));
    }
  };

  return {
    async read() {
      let names: string[];
      try {
        const status = await files.stat(path);
        const refusal = status && judge(status);
        if (refusal !== undefined) return { problem: refusal };
        const entries = await files.list(path);
        names = entries
          .filter(({ name, type }) => !name.startsWith(".") && type !== "directory")
          .map(({ name }) => name);
      } catch (error) {
        if (codeOf(error) === undefined) throw error;
        return { problem: messageOf(error) };
      }
      if (names.length > MAX_FILES) return { problem: `${names.length} files: at most ${MAX_FILES} are read` };
      const next = new Map<string, KnownFile>();
      for (const name of names) {
        const file = await readFile(name);
        if (file !== undefined) next.set(name, file);
      }
      known = next;
      return [...next.values()].map(({ manifest }) => manifest);
    },
  };
}

/** Reads again when the file changed meanwhile, so that half of a manifest is not taken for a whole one. */
async function readSettled(files: Pick<Files, "read" | "stat">, path: string, versionBefore: string) {
  let version = versionBefore;
  for (let attempt = 1; ; attempt += 1) {
    const data = await files.read(path, MAX_BYTES);
    const after = (await files.stat(path))?.version ?? "";
    if (after === version || attempt === READ_ATTEMPTS) return { data, version: after === version ? version : "" };
    version = after;
  }
}

/** A file that is as bad as before is the same value, so that it is news only once. */
function keepSame(before: KnownFile | undefined, manifest: FileObjects): FileObjects {
  return before?.manifest.problem === manifest.problem ? (before?.manifest ?? manifest) : manifest;
}

const MAX_LISTED = 5;

function joinErrors(errors: readonly string[]): string {
  const listed = errors.slice(0, MAX_LISTED).join("; ");
  return errors.length > MAX_LISTED ? `${listed}; and ${errors.length - MAX_LISTED} more` : listed;
}
