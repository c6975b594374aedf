import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { ImageEntry } from "../../src/cluster/images/image-archive.ts";
import type { Parts } from "./fetch-parts.ts";
import { ROOT } from "./places.ts";

/** What the program reads at run time: neither the library for tests, nor maps, nor what only a build needs. */
const UNUSED_OUTPUTS = /^(packages\/|testing|sources\.json|bundled\.json|nodelet\.1)|\.(map|LEGAL\.txt)$/;
const USED_MODULE_FILES = /(\.(js|cjs|mjs|node)|\/package\.json)$/;
/** For machines with another C library, and what builds native modules where none is brought. */
const FOREIGN = /musl|cnoke|trampolines/;

/** How a program for an interpreter begins. */
const SCRIPT = Buffer.from("#!");

export type FileEntry = Extract<ImageEntry, { type: "file" }>;

/**
 * Reads the files of the program, by their paths beneath its directory, in order: the build's, and the packages that it
 * needs beside it. All but Node.js itself.
 */
export function readProgramTree({ modules }: Pick<Parts, "modules">): FileEntry[] {
  const outputs = listFiles(join(ROOT, "dist")).filter((path) => !UNUSED_OUTPUTS.test(path));
  const used = listFiles(modules).filter((path) => USED_MODULE_FILES.test(path) && !FOREIGN.test(path));
  return [
    readEntry("package.json", join(ROOT, "package.json")),
    ...outputs.map((path) => readEntry(`dist/${path}`, join(ROOT, "dist", path))),
    ...used.map((path) => readEntry(`node_modules/${path}`, join(modules, path))),
  ];
}

/** Lists the files beneath a directory by their paths from there, in the same order everywhere. */
export function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

function readEntry(path: string, from: string): FileEntry {
  const data = readFileSync(from);
  return { type: "file", path, mode: data.subarray(0, 2).equals(SCRIPT) ? 0o755 : 0o644, data };
}
