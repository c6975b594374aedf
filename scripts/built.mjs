/**
 * Knows whether `dist/` is what the sources say. Compares contents and not times, because a checkout touches files that it
 * does not change, and a build may have begun before the last change. Plain JavaScript without dependencies.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

const DIST = join(ROOT, "dist");
/** What `npm run package` makes: no part of the program. */
const PACKAGES = join(DIST, "packages");
/** Not part of the package: see `files` in package.json. */
const MARK = join(DIST, "sources.json");
const FILES = ["package.json", "package-lock.json", "tsconfig.json", "scripts/bundle.ts"];

/** A hash of everything that the bundle in `dist/` is made from. */
export function hashSources() {
  const sources = listFiles(join(ROOT, "src")).filter((path) => !path.endsWith(".test.ts"));
  return hashFiles([...FILES.map((file) => join(ROOT, file)), ...sources]);
}

/** Makes `dist/` count as stale until `markBuilt`, because it is being made. */
export function markUnbuilt() {
  rmSync(MARK, { force: true });
}

/** Notes that `dist/`, as it is now, is made from the sources of this hash. */
export function markBuilt(sources) {
  const next = `${MARK}.next`;
  writeFileSync(next, JSON.stringify({ sources, outputs: hashOutputs() }));
  renameSync(next, MARK);
}

/** Whether `dist/` is complete, unchanged since its build, and made from the sources as they are now. */
export function isBuilt() {
  if (!existsSync(MARK)) return false;
  const { sources, outputs } = JSON.parse(readFileSync(MARK, "utf8"));
  return sources === hashSources() && outputs === hashOutputs();
}

function hashOutputs() {
  return hashFiles(listFiles(DIST).filter((path) => !path.startsWith(MARK) && !path.startsWith(PACKAGES)));
}

function hashFiles(paths) {
  const hash = createHash("sha256");
  for (const path of paths.sort()) {
    const content = readFileSync(path);
    hash.update(`${relative(ROOT, path)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function listFiles(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
}
