import type { CodedError } from "../../../base/errors.ts";
import { mountError } from "./mount-calls.ts";
import type { ProgramEnd } from "./run-mount-program.ts";

/** The words of programs in the C locale that stand for a code by which callers decide. */
const WORDS: ReadonlyArray<readonly [words: RegExp, code: string]> = [
  [/target is busy|device is busy|already mounted|or mount point busy|device or resource busy/i, "EBUSY"],
  [/must be superuser|permission denied by|operation not permitted/i, "EPERM"],
  [/permission denied|access denied/i, "EACCES"],
  [/read-only file system/i, "EROFS"],
  [/unknown filesystem type|no such device/i, "ENODEV"],
  [/does not exist|no such file or directory|can't find in|can't open|can't read/i, "ENOENT"],
  [/not a directory/i, "ENOTDIR"],
  [/not mounted|wrong fs type|invalid argument|bad option|bad superblock|no mount point/i, "EINVAL"],
  [/timed out/i, "ETIMEDOUT"],
  [/no space left/i, "ENOSPC"],
];

/** Longer words of a program are cut here. */
const MAX_WORDS = 1_024;

/**
 * The error of a program that ended with another code than 0, in its own words. The code is `EIO` where the words tell
 * none.
 */
export function programError(
  end: ProgramEnd,
  { operation, path, program }: { operation: string; path: string; program: string },
): CodedError<string> {
  const words = end.stderr || end.stdout;
  const code = WORDS.find(([pattern]) => pattern.test(words))?.[1] ?? "EIO";
  const ended = end.code === undefined ? "was killed" : `ended with ${end.code}`;
  const why = `${program} ${ended}${words === "" ? "" : `: ${words.slice(0, MAX_WORDS).replaceAll(/\s*\n\s*/g, " ")}`}`;
  return mountError(code, { operation, path, why });
}
