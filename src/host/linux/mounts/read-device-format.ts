import { programError } from "./program-error.ts";
import type { ProgramEnd } from "./run-mount-program.ts";

/** blkid's exit code for a device on which it found nothing. */
const NOTHING_FOUND = 2;

/** The type of the data that the device holds; empty if it holds nothing at all. */
export async function readDeviceFormat(
  source: string,
  run: (name: string, args: readonly string[]) => Promise<ProgramEnd>,
): Promise<string> {
  // A missing device looks to blkid like one that holds nothing, and must not be formatted, so `stderr` must be empty
  // too.
  const end = await run("blkid", ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", "--", source]);
  if (end.code === NOTHING_FOUND && end.stderr === "") return "";
  if (end.code !== 0) throw programError(end, { operation: "read the format of", path: source, program: "blkid" });
  if (/^PTTYPE=./m.test(end.stdout)) return "unknown data, probably partitions";
  return /^TYPE=(.+)$/m.exec(end.stdout)?.[1] ?? "unknown data";
}
