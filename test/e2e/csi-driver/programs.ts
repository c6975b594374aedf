import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Runs a program without a shell; rejects with its words. */
export async function run(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { timeout: 60_000 });
  return stdout.trim();
}

/** Whether something is mounted over the path. */
export async function isMounted(path: string): Promise<boolean> {
  const table = await readFile("/proc/self/mountinfo", "utf8");
  return table.split("\n").some((line) => unescapePath(line.split(" ")[4] ?? "") === path);
}

/** All that is mounted over the path, stacked mounts too. */
export async function unmountAll(path: string): Promise<void> {
  while (await isMounted(path)) await run("umount", path);
}

export async function bind(source: string, target: string, { readOnly }: { readOnly: boolean }): Promise<void> {
  await unmountAll(target);
  await run("mount", "--bind", source, target);
  // A bind mount takes no other options when it is made.
  if (readOnly) await run("mount", "-o", "remount,bind,ro", target);
}

/** The loop devices that show the file. */
export async function loopDevicesOf(file: string): Promise<string[]> {
  const listed = await run("losetup", "--noheadings", "--output", "NAME", "--associated", file);
  return listed
    .split("\n")
    .map((name) => name.trim())
    .filter(Boolean);
}

/** The kernel writes a blank, among others, as a backslash with three octal digits. */
function unescapePath(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
