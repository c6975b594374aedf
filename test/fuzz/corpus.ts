import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "corpus");
/** The inputs that reached something new, one a line, in base64; every other file is one input, named by what it did. */
const REACHED = "reached.txt";

/** The kept inputs of a target, in the order of their names; none where it has no directory. */
export function readCorpus(target: string): Buffer[] {
  const directory = join(DIRECTORY, target);
  return listNames(directory).flatMap((name) => {
    const bytes = readFileSync(join(directory, name));
    return name === REACHED ? linesOf(bytes).map((line) => Buffer.from(line, "base64")) : [bytes];
  });
}

/** Adds inputs to those that reached something new. */
export function keepInputs(target: string, inputs: readonly Buffer[]): void {
  const directory = join(DIRECTORY, target);
  mkdirSync(directory, { recursive: true });
  const before = listNames(directory).includes(REACHED) ? linesOf(readFileSync(join(directory, REACHED))) : [];
  const lines = new Set([...before, ...inputs.map((input) => input.toString("base64"))]);
  if (lines.size > 0) writeFileSync(join(directory, REACHED), `${[...lines].join("\n")}\n`);
}

const linesOf = (bytes: Buffer) =>
  bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");

function listNames(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
