import { readFile } from "node:fs/promises";

/** Put in by the build; without one (run from source) the package file tells. */
declare const NODELET_VERSION: string | undefined;

/** As `package.json` says it, e.g. `0.1.0`. */
export async function readVersion(): Promise<string> {
  if (typeof NODELET_VERSION === "string") return NODELET_VERSION;
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  return /"version": "([^"]+)"/.exec(text)?.[1] ?? "unknown";
}
