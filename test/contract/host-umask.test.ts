import { execFile } from "node:child_process";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";

const run = promisify(execFile);
const FILES = new URL("../../src/host/linux/files/linux-files.ts", import.meta.url).href;

/** The files of the port, each with its mode; the last two are the directory and the file of a new tree. */
const MADE: ReadonlyArray<readonly [name: string, mode: number]> = [
  ["directory", 0o755],
  ["shared", 0o777],
  ["private", 0o750],
  ["replaced", 0o644],
  ["written", 0o600],
  ["message", 0o666],
  ["touched", 0o664],
  ["tree", 0o755],
  ["tree/file", 0o444],
];

const SCRIPT = `
import { linuxFiles as files } from ${JSON.stringify(FILES)};
const [root] = process.argv.slice(-1);
for (const [name, mode] of [["directory", 0o755], ["shared", 0o777], ["private", 0o750]]) {
  await files.makeDirectory(\`\${root}/\${name}\`, mode);
}
await files.replace(\`\${root}/replaced\`, "x", 0o644);
await files.writeAtomically(\`\${root}/written\`, "x", 0o600);
await files.replace(\`\${root}/message\`, "", 0o666);
await files.touch(\`\${root}/touched\`, 0o664);
const tree = new Map([["file", { data: Buffer.from("x"), mode: 0o444 }]]);
await files.createTree(\`\${root}/tree\`, { files: tree, directoryMode: 0o755 });
`;

it.each(["0000", "0022", "0077"])("everything has the mode that was asked for under the umask %s", async (umask) => {
  const directory = await mkdtemp(join(tmpdir(), "nodelet-umask-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  const node = [process.execPath, "--import", "tsx", "--input-type=module", "--eval", SCRIPT, directory];
  await run("sh", ["-c", `umask ${umask}; exec "$@"`, "sh", ...node]);
  const found = MADE.map(async ([name]) => [name, (await stat(join(directory, name))).mode & 0o7777] as const);
  expect(await Promise.all(found)).toEqual(MADE);
});
