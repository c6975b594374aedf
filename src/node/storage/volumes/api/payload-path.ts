import { posix } from "node:path";
import { VolumeSetUpError } from "../volume-error.ts";

const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 255;

/**
 * Cleans the path of a file in a volume. Throws, with upstream's words, where the path would lead out of the volume or clash
 * with the names of the volume's own structure (pkg/volume/util/atomic_writer.go).
 */
export function cleanPayloadPath(path: string): string {
  if (path === "") throw new VolumeSetUpError("invalid", 'invalid path: must not be empty: ""');
  if (posix.isAbsolute(path)) throw new VolumeSetUpError("invalid", `invalid path: must be relative path: ${path}`);
  if (Buffer.byteLength(path) > MAX_PATH_LENGTH) {
    throw new VolumeSetUpError("invalid", `invalid path: must be less than or equal to ${MAX_PATH_LENGTH} characters`);
  }
  const names = path.split("/");
  if (names.includes("..")) throw new VolumeSetUpError("invalid", `invalid path: must not contain '..': ${path}`);
  if (names.some((name) => Buffer.byteLength(name) > MAX_NAME_LENGTH)) {
    throw new VolumeSetUpError(
      "invalid",
      `invalid path: filenames must be less than or equal to ${MAX_NAME_LENGTH} characters`,
    );
  }
  const clean = names.filter((name) => name !== "" && name !== ".");
  // The cleaned path is checked, while upstream checks the path as written and so misses a `..` behind `./`.
  if (clean[0]?.startsWith(".."))
    throw new VolumeSetUpError("invalid", `invalid path: must not start with '..': ${path}`);
  if (clean.length === 0 || path.includes("\0"))
    throw new VolumeSetUpError("invalid", `invalid path: names no file: ${JSON.stringify(path)}`);
  return clean.join("/");
}

/** Throws where a path is both a file and the directory of another file, which no order of writing could make. */
export function refuseConflicts(paths: ReadonlySet<string>): void {
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = path.slice(0, end);
      if (paths.has(directory))
        throw new VolumeSetUpError("invalid", `conflicting paths: "${directory}" is a file, and so is "${path}"`);
    }
  }
}
