import { posix } from "node:path";
import { VolumeSetUpError } from "../volume-error.ts";

const MAX_PATH_LENGTH = 4096;
const MAX_NAME_LENGTH = 255;

/**
 * The path of a file in a volume, clean. Throws, with upstream's words, where it would lead out of the volume or meet the
 * names that the volume's own structure uses (pkg/volume/util/atomic_writer.go).
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
  // Also behind a `./`, where upstream looks at what is written only.
  if (clean[0]?.startsWith(".."))
    throw new VolumeSetUpError("invalid", `invalid path: must not start with '..': ${path}`);
  if (clean.length === 0 || path.includes("\0"))
    throw new VolumeSetUpError("invalid", `invalid path: names no file: ${JSON.stringify(path)}`);
  return clean.join("/");
}

/** Throws where one path is a file and a directory of another: no order of writing could have both. */
export function refuseConflicts(paths: ReadonlySet<string>): void {
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const directory = path.slice(0, end);
      if (paths.has(directory))
        throw new VolumeSetUpError("invalid", `conflicting paths: "${directory}" is a file, and so is "${path}"`);
    }
  }
}
