import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Command, CommanderError } from "commander";
import { expect, test } from "vitest";
import { createProgram } from "../main.ts";
import { UP_SETTINGS } from "../up/up-settings.ts";
import { EXIT_CODES, FAILED, SECOND_SIGNAL } from "./exit-codes.ts";
import { writeManual } from "./write-manual.ts";

const program = () => createProgram({ argv: [], entry: "", version: "1" }, async (code) => void (await code));

const namesOf = (tree: Command) =>
  tree
    .createHelp()
    .visibleCommands(tree)
    .map((command) => command.name());

test("the exit codes of every command are told, once", () => {
  expect(EXIT_CODES.flatMap(({ commands }) => commands).toSorted()).toEqual(namesOf(program()).toSorted());
});

test("docs/commands.md tells them as the manual does", () => {
  const docs = readFileSync(new URL("../../../docs/commands.md", import.meta.url), "utf8");
  const [, section = ""] = docs.split("## Exit codes");
  const rows = section.split("\n").flatMap((line) => {
    const [, commands = "", done = "", failed = ""] = line.split("|").map((cell) => cell.trim());
    return commands.startsWith("`") ? [{ commands: commands.replaceAll("`", "").split(", "), done, failed }] : [];
  });
  expect(rows).toEqual(EXIT_CODES);
  for (const text of [FAILED, SECOND_SIGNAL]) expect(docs.replaceAll("\n", " ")).toContain(text);
});

test("the manual has every command, every option that is shown, and no other", () => {
  const manual = writeManual(program(), "1").replaceAll("\\-", "-");
  for (const name of namesOf(program()).filter((each) => each !== "help"))
    expect(manual).toContain(`.SS "nodelet ${name} `);
  expect(manual).toContain(".TP\n.B -o, --output <format>\nmore columns, or all there is (choices: ");
  expect(manual).toContain('.SS "nodelet images load [options] <file...>"');
  expect(manual).not.toContain("--supervisor");
  for (const { field, flags } of UP_SETTINGS) expect(manual).toContain(`.TP\n.B ${field}\n${flags}\n`);
});

test("the manual does not depend on the machine and the user that build it", () => {
  const manual = writeManual(program(), "1").replaceAll("\\-", "-");
  const directories = manual.split("\n").filter((text) => text.startsWith("where it keeps everything"));
  expect(new Set(directories)).toEqual(
    new Set([
      String.raw`where it keeps everything (default: \(dq/var/lib/nodelet\(dq)`,
      "where it keeps everything (default: /var/lib/nodelet for root, else nodelet in $XDG_STATE_HOME or ~/.local/state)",
    ]),
  );
});

test.skipIf(spawnSync("groff", ["--version"]).status !== 0)("groff finds no mistake in the manual", () => {
  const { status, stderr } = spawnSync("groff", ["-man", "-ww", "-z"], {
    input: writeManual(program(), "1"),
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
});

/** The exit code with which a line of words ends before a command runs. */
async function endOf(words: readonly string[]): Promise<number | undefined> {
  const tree = program();
  const prepare = (command: Command) => {
    command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
    command.commands.forEach(prepare);
  };
  prepare(tree);
  try {
    await tree.parseAsync([...words], { from: "user" });
    return undefined;
  } catch (error) {
    return error instanceof CommanderError ? error.exitCode : undefined;
  }
}

test.each([
  ["help that was asked for", ["--help"], 0],
  ["help of a command", ["help", "up"], 0],
  ["the version", ["--version"], 0],
  ["an unknown command", ["upp"], 1],
  ["an unknown option", ["status", "--wat"], 1],
  ["a choice that is none", ["status", "-o", "xml"], 1],
  ["a value out of range", ["up", "--healthz-port", "70000"], 1],
  ["a missing option", ["dns"], 1],
  ["a missing argument", ["images", "load"], 1],
  ["a group without its command", ["images"], 1],
])("%s ends with the code that is documented", async (_, words, code) => {
  expect(await endOf(words)).toBe(code);
});
