import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Parts } from "./fetch-parts.ts";
import { ROOT } from "./places.ts";
import { listFiles } from "./program-tree.ts";

/** A package whose code is in the program. */
export interface UsedPackage {
  readonly name: string;
  readonly version: string;
  /** As its package.json says, in SPDX' terms. */
  readonly licence: string;
  /** The text of its licence; undefined where it brings none. */
  readonly text: string | undefined;
}

/** Reads the packages that the build has put into the program, and those that it needs beside it, by name. */
export function readUsedPackages({ modules }: Pick<Parts, "modules">): UsedPackage[] {
  const bundled: string[] = JSON.parse(readFileSync(join(ROOT, "dist/bundled.json"), "utf8"));
  const beside = listFiles(modules)
    .filter((path) => /^(.*node_modules\/)?(@[^/]+\/)?[^/]+\/package\.json$/.test(path) && !/musl/.test(path))
    .map((path) => join(modules, path, ".."));
  const packages = [...bundled.map((path) => join(ROOT, path)), ...beside].map(readPackage);
  const byName = new Map(packages.map((found) => [`${found.name}@${found.version}`, found]));
  return [...byName.values()].sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
}

/** Writes all licences one after the other. */
export function writeNotices(packages: readonly UsedPackage[], { nodeVersion, nodeLicence }: Parts): string {
  const own = readFileSync(join(ROOT, "LICENSE"), "utf8");
  const parts = [
    { title: "nodelet: Apache-2.0", text: own },
    ...packages.map(({ name, version, licence, text = "It brings no text of its licence." }) => {
      return { title: `${name} ${version}: ${licence}`, text };
    }),
    { title: `Node.js ${nodeVersion}, with all that it contains`, text: nodeLicence },
  ];
  return parts
    .map(({ title, text }) => `${"=".repeat(78)}\n${title}\n${"=".repeat(78)}\n\n${text.trim()}\n`)
    .join("\n");
}

function readPackage(directory: string): UsedPackage {
  const described: { name?: string; version?: string; license?: string } = JSON.parse(
    readFileSync(join(directory, "package.json"), "utf8"),
  );
  const { name, version, license } = described;
  if (name === undefined || version === undefined || license === undefined) {
    throw new Error(`${directory}/package.json lacks name, version or licence`);
  }
  const file = readdirSync(directory).find((path) => /^(licen[cs]e|copying)/i.test(path));
  const text =
    file !== undefined && existsSync(join(directory, file)) ? readFileSync(join(directory, file), "utf8") : undefined;
  return { name, version, licence: license, text };
}
