import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { createProgram } from "../main.ts";
import { readCommandWords } from "./command-words.ts";
import { SHELLS } from "./shells.ts";
import { writeCompletion } from "./write-completion.ts";

const program = () => createProgram({ argv: [], entry: "", version: "1" }, async (code) => void (await code));

const isMissing = (shell: string) => spawnSync(shell, ["-c", "true"]).status !== 0;

for (const shell of SHELLS) {
  test.skipIf(isMissing(shell))(`${shell} finds no mistake in its script`, () => {
    const { status, stderr } = spawnSync(shell, ["-n"], { input: writeCompletion(shell, program()), encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
}

/** What bash offers for the last word of a line. */
function complete(...words: string[]): string[] {
  const script = `${writeCompletion("bash", program())}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_nodelet
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = spawnSync("bash", ["-c", script, "bash", "nodelet", ...words], { cwd: "/usr", encoding: "utf8" });
  return stdout.split("\n").filter((word) => word !== "");
}

test.skipIf(isMissing("bash")).each([
  ["commands", ["st"], ["status"]],
  ["commands of a command", ["images", ""], ["ls", "load", "rm", "prune", "help"]],
  ["options", ["down", "--no"], ["--now", "--no-config"]],
  ["the choices of an option", ["status", "-o", ""], ["wide", "json", "yaml"]],
  ["the choices after a sign", ["images", "ls", "--output", "=", "y"], ["yaml"]],
  ["directories", ["up", "--manifests", "lo"], ["local"]],
  ["files", ["images", "load", "/etc/pass"], expect.arrayContaining(["/etc/passwd"])],
  ["the choices of an argument", ["completion", ""], ["bash", "zsh", "fish"]],
  ["what there is help for", ["help", "unin"], ["uninstall"]],
  ["nothing where only the user knows", ["up", "--bridge", ""], []],
  ["nothing that is hidden", ["up", "--sup"], []],
])("bash completes %s", (_, words, offered) => {
  expect(complete(...words)).toEqual(offered);
});

test("what shells are told is what --help shows", () => {
  const words = readCommandWords(program());
  const help = program().helpInformation();
  for (const { name } of words.below) expect(help).toContain(`\n  ${name} `);
  expect(words.below.map(({ name }) => name)).toMatchInlineSnapshot(`
    [
      "up",
      "down",
      "control-plane",
      "proxy",
      "dns",
      "status",
      "explain",
      "dashboard",
      "doctor",
      "images",
      "install",
      "uninstall",
      "kubelet",
      "completion",
      "version",
      "help",
    ]
  `);
  expect(words.below.find(({ name }) => name === "status")).toMatchInlineSnapshot(`
    {
      "about": "show the node, its conditions and its pods",
      "argument": undefined,
      "below": [],
      "name": "status",
      "options": [
        {
          "about": "more columns, or all there is",
          "flags": [
            "-o",
            "--output",
          ],
          "value": {
            "kind": "words",
            "words": [
              "wide",
              "json",
              "yaml",
            ],
          },
        },
        {
          "about": "where it keeps everything",
          "flags": [
            "--state-dir",
          ],
          "value": {
            "kind": "directories",
          },
        },
        {
          "about": "the configuration file of nodelet up, for its stateDir (default: /etc/nodelet/up.yaml if it is there)",
          "flags": [
            "--config",
          ],
          "value": {
            "kind": "files",
          },
        },
        {
          "about": "read no such file",
          "flags": [
            "--no-config",
          ],
          "value": undefined,
        },
        {
          "about": "display help for command",
          "flags": [
            "-h",
            "--help",
          ],
          "value": undefined,
        },
      ],
      "path": "nodelet status",
    }
  `);
});
