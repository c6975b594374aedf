import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseSource, type TextFile, type Tree } from "./source.ts";

/** The repository this file is in. */
const REPOSITORY: string = join(import.meta.dirname, "../..");

const SOURCE_FOLDERS = /^(src|test|bench|scripts)\//;
const SOURCE_FILE = /\.(ts|tsx|mts|js|mjs)$/;
const TEXT_FILE = /\.(ts|tsx|mts|js|mjs|css|html|json|md|ya?ml|toml|conflist|sh|proto)$|^\.ci\//;
/** Made by a tool, fetched, or left behind by a run. */
const NOT_OURS = new Set([
  "node_modules",
  "dist",
  "coverage",
  "gen",
  "schema",
  ".git",
  ".nodelet",
  "package-lock.json",
]);

/** Reads and parses what the rules look at. */
export function loadTree(root: string = REPOSITORY): Tree {
  const paths = listPaths(root, "");
  const texts: TextFile[] = paths
    .filter((path) => TEXT_FILE.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const sources = texts
    .filter(({ path }) => SOURCE_FOLDERS.test(path) && SOURCE_FILE.test(path))
    .map(({ path, text }) => parseSource(path, text));
  return { sources, texts, paths: new Set(paths) };
}

function listPaths(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .filter((entry) => !NOT_OURS.has(entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) return [path, ...listPaths(root, path)];
      return entry.isFile() ? [path] : [];
    });
}
