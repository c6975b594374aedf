import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Build, buildIn } from "../build.ts";

/** A commit, built beside this tree. */
interface BaseBuild {
  build: Build;
  /** The commit that the name meant. */
  commit: string;
  /** Removes all that was made for it. */
  remove(): Promise<void>;
}

/** The repository that this file is in. */
const ROOT = new URL("../..", import.meta.url).pathname;
const TAIL_CHARACTERS = 2_000;

/**
 * Builds a commit as `npm run build` does, in a clone of its own: a work tree of this repository would stay behind in it if
 * the run were killed. Throws for a name that is no commit, and where it does not build.
 */
export async function buildBase(
  base: string,
  { signal, progress }: { signal: AbortSignal; progress(text: string): void },
): Promise<BaseBuild> {
  const commit = (await runCommand(ROOT, ["git", "rev-parse", "--verify", `${base}^{commit}`], signal)).trim();
  const directory = await mkdtemp(join(tmpdir(), "nodelet-bench-base-"));
  const remove = async () => await rm(directory, { recursive: true, force: true });
  try {
    const tree = join(directory, "tree");
    progress(`cloning ${commit.slice(0, 8)}`);
    await runCommand(ROOT, ["git", "clone", "--quiet", "--shared", "--no-checkout", ROOT, tree], signal);
    await runCommand(tree, ["git", "checkout", "--quiet", "--detach", commit], signal);
    if (await hasSamePackages(tree)) {
      await symlink(join(ROOT, "node_modules"), join(tree, "node_modules"));
    } else {
      progress(`installing the packages of ${commit.slice(0, 8)}`);
      await runCommand(tree, ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], signal);
    }
    progress(`building ${commit.slice(0, 8)}`);
    await runCommand(tree, ["npm", "run", "--silent", "build"], signal);
    return { build: await buildIn(tree, "base"), commit, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What was changed since that commit, in commits and in files that git knows or could be told of. */
export async function readChangedPaths(base: string, signal: AbortSignal): Promise<string[]> {
  const changed = await runCommand(ROOT, ["git", "diff", "--name-only", `${base}^{commit}`], signal);
  const added = await runCommand(ROOT, ["git", "ls-files", "--others", "--exclude-standard"], signal);
  return `${changed}\n${added}`.split("\n").filter((path) => path !== "");
}

async function hasSamePackages(tree: string): Promise<boolean> {
  const read = async (directory: string) => await readFile(join(directory, "package-lock.json"), "utf8");
  return (await read(ROOT)) === (await read(tree));
}

/** Resolves with what it printed. It and all that it started end with the signal. */
async function runCommand(directory: string, words: readonly string[], signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const [command = "", ...args] = words;
  // Scripts get the Node.js that runs the bench.
  const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;
  // In a session of its own, so that Ctrl-C is the bench's to handle.
  const child = spawn(command, args, { cwd: directory, detached: true, env: { ...process.env, PATH: path } });
  const printed = { out: "", all: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    printed.out += chunk.toString();
    printed.all += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    printed.all += chunk.toString();
  });
  const interrupt = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGTERM"));
  signal.addEventListener("abort", interrupt, { once: true });
  try {
    const [code] = await once(child, "close");
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${printed.all.slice(-TAIL_CHARACTERS)}`);
    return printed.out;
  } finally {
    signal.removeEventListener("abort", interrupt);
  }
}
