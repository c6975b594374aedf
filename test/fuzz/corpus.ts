import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "corpus");

/** The kept inputs of a target, in the order of their names; none where it has no directory. */
export function readCorpus(target: string): Buffer[] {
  const directory = join(DIRECTORY, target);
  return listNames(directory).map((name) => readFileSync(join(directory, name)));
}

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
