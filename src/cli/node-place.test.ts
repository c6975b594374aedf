import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, Option } from "commander";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createProgram } from "./main.ts";
import { addNodePlace, readStateDirectory } from "./node-place.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-place-"));
});
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const HEAD = "apiVersion: nodelet.dev/v1alpha1\nkind: UpConfiguration\n";

async function find(...words: string[]): Promise<string> {
  let found = "";
  const program = new Command().exitOverride();
  const command = program.command("status");
  const place = addNodePlace(command, new Option("--state-dir <dir>").default("/preset"));
  command.action(async () => {
    found = await place();
  });
  await program.parseAsync(["status", ...words], { from: "user" });
  return found;
}

test("the node is where the flag says, or the file that up reads, or where it is by default", async () => {
  const file = join(directory, "up.yaml");
  await writeFile(file, `${HEAD}stateDir: state\n`);
  expect(await find("--config", file)).toBe(join(directory, "state"));
  expect(await find("--config", file, "--state-dir", "/given")).toBe("/given");
  expect(await find("--no-config")).toBe("/preset");
  await writeFile(file, `${HEAD}apiPort: 7443\n`);
  expect(await find("--config", file)).toBe("/preset");
});

test("a file that was named must be right, and one that broke since the start does not hide the node", async () => {
  await expect(find("--config", join(directory, "none.yaml"))).rejects.toThrow(/none\.yaml cannot be read/);
  const said: string[] = [];
  const read = async () => await Promise.reject(new Error('up.yaml: unknown field "x"'));
  const deps = { read, warn: (text: string) => void said.push(text) };
  expect(await readStateDirectory(deps, undefined, "/preset")).toBe("/preset");
  expect(said).toEqual([expect.stringContaining('unknown field "x"')]);
});

const finish = async (code: Promise<number>) => void (await code);
const everyCommand = (of: Command): Command[] => of.commands.flatMap((each) => [each, ...everyCommand(each)]);
const flagsOf = (command: Command) => command.options.map(({ long }) => long);

test("every command that looks for the node of up takes its configuration file", () => {
  const commands = everyCommand(createProgram({ argv: [], entry: "", version: "1" }, finish));
  const finders = commands.filter(
    (command) => flagsOf(command).includes("--state-dir") && command.name() !== "control-plane",
  );
  expect(finders.length).toBeGreaterThan(8);
  for (const command of finders)
    expect([command.name(), flagsOf(command)]).toEqual([
      command.name(),
      expect.arrayContaining(["--config", "--no-config"]),
    ]);
});

test("every command that lists or tells something has it for programs, too", () => {
  const commands = everyCommand(createProgram({ argv: [], entry: "", version: "1" }, finish));
  const leaves = commands.filter((command) => command.commands.length === 0);
  const without = leaves.filter((command) => !flagsOf(command).includes("--output")).map((command) => command.name());
  // What runs until it is stopped, what does one thing and tells of it, and what prints text for a shell.
  const doers = [
    "up",
    "down",
    "control-plane",
    "proxy",
    "dns",
    "dashboard",
    "install",
    "uninstall",
    "kubelet",
    "completion",
  ];
  expect(without.filter((name) => !doers.includes(name))).toEqual([]);
});
