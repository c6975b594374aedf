import { execFileSync } from "node:child_process";

/** Where a run's seeds begin, and why there. */
interface FirstSeed {
  readonly first: number;
  readonly reason: string;
}

/** So many digits of a commit's hash are a seed: sixteen streams of each are numbers of 32 bits. */
const DIGITS = 7;

/**
 * The first seed of a run that names none. It comes from the commit, so that each commit tries seeds that none before it
 * has tried, and tries the same ones wherever it is built. Seeds begin at 1 where there is no commit, as in an archive.
 */
export function readFirstSeed(directory: string): FirstSeed {
  const commit = readCommit(directory);
  if (commit === undefined) return { first: 1, reason: "there is no commit to take them from" };
  return { first: Number.parseInt(commit.slice(0, DIGITS), 16) + 1, reason: `from commit ${commit.slice(0, 12)}` };
}

function readCommit(directory: string): string | undefined {
  try {
    return execFileSync("git", ["rev-parse", "HEAD"], {
      cwd: directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}
