import type { Container, FileKeySelector } from "../../../api/gen/types.ts";
import { assert } from "../../../base/assert.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import type { ReadyVolume } from "../../storage/volumes/volume-plugin.ts";
import { type EnvFile, parseEnvFile } from "./env-file.ts";
import { decodeValue, type ReferredObject, type ReferredValue } from "./referred-values.ts";

/** Every file that variables of the container name, or why there is none; each byte of its values is one character. */
export type EnvFiles = ReadonlyMap<string, ReferredObject<EnvFile>>;

interface EnvFilesInput {
  readonly container: Container;
  /** The pod's volumes by name, ready for use. */
  readonly volumes: ReadonlyMap<string, ReadyVolume>;
}

/** A longer file is refused: nobody writes variables of that size by mistake, and the kernel takes 2 MiB in all. */
const MAX_ENV_FILE_BYTES = 1024 * 1024;

/**
 * Reads the files that a container's `fileKeyRef` variables name, each once. Containers of the pod may change them
 * meanwhile, so that no link is followed out of the volume. A file that cannot be read is noted in its place, and
 * `buildEnvironment` decides whether it was needed.
 */
export async function readEnvFiles(files: Pick<Files, "openBeneath">, input: EnvFilesInput): Promise<EnvFiles> {
  const found = new Map<string, ReferredObject<EnvFile>>();
  for (const { value, valueFrom } of input.container.env ?? []) {
    const reference = value ? undefined : valueFrom?.fileKeyRef;
    if (reference === undefined || found.has(nameOf(reference))) continue;
    found.set(nameOf(reference), await readEnvFile(files, reference, input.volumes));
  }
  return found;
}

/**
 * Reads one variable of a file. An absent file or key is an error unless the reference is optional; then the variable is
 * absent. A file that breaks the rules is an error in any case.
 */
export function readFileKey(files: EnvFiles, reference: FileKeySelector): ReferredValue | { error: string } | "skip" {
  const file = files.get(nameOf(reference));
  assert(file !== undefined, "every file that the container names was read");
  const { path, volumeName, key, optional = false } = reference;
  if (file.state !== "found") return file.state === "missing" && optional ? "skip" : { error: file.error };
  const { values, error } = file.object;
  const value = values.get(key);
  if (value !== undefined) return decodeValue(Buffer.from(value, "latin1"));
  if (error !== undefined) return { error: `couldn't parse env ${wordsOf(path, volumeName)}: ${error}` };
  return optional ? "skip" : { error: `environment variable key "${key}" not found in ${wordsOf(path, volumeName)}` };
}

async function readEnvFile(
  files: Pick<Files, "openBeneath">,
  { volumeName, path }: FileKeySelector,
  volumes: ReadonlyMap<string, ReadyVolume>,
): Promise<ReferredObject<EnvFile>> {
  const volume = volumes.get(volumeName);
  if (volume?.kind !== "files") {
    return { state: "failed", error: `cannot find the volume "${volumeName}" referenced by FileKeyRef` };
  }
  try {
    const content = await readBounded(files, volume.hostPath, path);
    return { state: "found", object: parseEnvFile(content.toString("latin1")) };
  } catch (error) {
    const state = codeOf(error) === "ENOENT" ? "missing" : "failed";
    return { state, error: `couldn't read env ${wordsOf(path, volumeName)}: ${reasonOf(error)}` };
  }
}

async function readBounded(files: Pick<Files, "openBeneath">, root: string, path: string): Promise<Buffer> {
  const file = await files.openBeneath(root, path);
  try {
    const { sizeBytes } = await file.status();
    if (sizeBytes > MAX_ENV_FILE_BYTES) throw new Error(`it is longer than ${MAX_ENV_FILE_BYTES} bytes`);
    return await file.read(0, sizeBytes);
  } finally {
    await file.close();
  }
}

/** The words for codes name no path of the host. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EXDEV: "a link leads out of the volume",
  ELOOP: "too many links lead to it",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of its path is no directory",
  EINVAL: "it is no regular file",
};

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? messageOf(error) : (REASONS[code] ?? code);
}

function wordsOf(path: string, volumeName: string): string {
  return `file "${path}" of volume "${volumeName}"`;
}

function nameOf({ volumeName, path }: FileKeySelector): string {
  return `${volumeName}/${path}`;
}
