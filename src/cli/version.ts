import { readFile } from "node:fs/promises";

/** The build sets this constant. Without a build (when run from source) the package file has the version. */
declare const NODELET_VERSION: string | undefined;

/** Reads the version in `package.json`, e.g. `0.1.0`. */
export async function readVersion(): Promise<string> {
  if (typeof NODELET_VERSION === "string") return NODELET_VERSION;
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "unknown";
}
