import { open } from "node:fs/promises";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { decodeUpConfiguration, type UpValues } from "./up-configuration.ts";
import type { UpSources } from "./up-options.ts";
import { DEFAULT_UP_FILE } from "./up-settings.ts";

/** A configuration file of `nodelet up` and what it says. */
export interface UpConfiguration {
  readonly path: string;
  readonly values: UpValues;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads the file that was asked for. Undefined where none is. Rejects with `bad-configuration` and what is wrong. */
export async function readUpConfiguration({ config }: Pick<UpSources, "config">): Promise<UpConfiguration | undefined> {
  if (config === false) return undefined;
  const path = typeof config === "string" ? config : DEFAULT_UP_FILE;
  try {
    return { path, values: decodeUpConfiguration(await readText(path), path) };
  } catch (error) {
    if (codeOf(error) === "ENOENT" && typeof config !== "string") return undefined;
    if (error instanceof CodedError) throw error;
    throw new CodedError("bad-configuration", `--config: ${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

async function readText(path: string): Promise<string> {
  const file = await open(path, "r");
  try {
    const status = await file.stat();
    const problem = status.isFile() ? undefined : "it is no regular file";
    const size = status.size > MAX_FILE_BYTES ? `it has more than ${MAX_FILE_BYTES} bytes` : undefined;
    if (problem ?? size) throw new CodedError("bad-configuration", `${path}: ${problem ?? size}`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}
