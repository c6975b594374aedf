import { describe, expect, it } from "vitest";
import { parseEnvFile } from "./env-file.ts";

describe("a value", () => {
  it.each([
    ["is found behind blanks, empty lines and comments", "# c\n\n \t# d\r\n\r\n \tA='x'\n", "A", "x"],
    ["may be empty", "A=''", "A", ""],
    ["keeps its blanks", "A='  x\t '\n", "A", "  x\t "],
    [
      "holds =, #, double quotes, dollars and backslashes",
      `A='a=b#c "d" $E $(F) \\n \\'\n`,
      "A",
      'a=b#c "d" $E $(F) \\n \\',
    ],
    ["may span lines, and the next is found behind it", "A='x\n\n# no comment\nB=y'\nB='z'\n", "B", "z"],
    ["spans lines as they are", "A='x\n\n  y'", "A", "x\n\n  y"],
    ["may have a comment behind it", "A='x' # it's so\nB='y'", "B", "y"],
    ["may end its line with a carriage return", "A='x'\r\nB='y'\r\n", "B", "y"],
    ["counts when it is the first of its name", "A='x'\nA='y'\n", "A", "x"],
    ["counts although what comes behind it is broken", "A='x'\nbroken\n", "A", "x"],
    ["has a name that is compared as a whole", "AB='x'\nA='y'\n", "A", "y"],
  ])("%s", (_why, text, name, value) => {
    expect(parseEnvFile(text).values.get(name)).toBe(value);
  });

  it.each(["", "\n", "# A='x'", "B='x'", "B='A='\n"])("is absent in %j", (text) => {
    const { values, error } = parseEnvFile(text);
    expect([values.has("A"), error]).toEqual([false, undefined]);
  });
});

describe("a file is refused by its line", () => {
  it.each([
    ["B='x'\nA\n", 2, "it must be NAME='VALUE'"],
    ["A\n='x'", 1, "it must be NAME='VALUE'"],
    ["B='x\ny'\n\n='x'", 4, "there is no name before '='"],
    ["B ='x'", 1, "whitespace before '=' is not allowed"],
    ["A= 'x'", 1, "value must be enclosed in single quotes"],
    ["A=x", 1, "value must be enclosed in single quotes"],
    ['A="x"', 1, "value must be enclosed in single quotes"],
    ["A=", 1, "value must be enclosed in single quotes"],
    ["# c\nA='x\nB=y", 2, "unclosed single quote"],
    ["A='x\nB='y'\n", 1, "unexpected content after closing quote"],
    ["A='x''y'", 1, "unexpected content after closing quote"],
    ["A='x'#c", 1, "unexpected content after closing quote"],
    ["A='x' y", 1, "unexpected content after closing quote"],
    ["A='x\0y'", 1, "value contains a NUL byte"],
  ])("%j", (text, line, why) => {
    const error = `invalid environment variable format at line ${line}: ${why}`;
    const parsed = parseEnvFile(text);
    expect([parsed.error, parsed.values.has("A")]).toEqual([error, false]);
  });
});

it.each([
  ["many lines", `${"B='x'\n".repeat(170_000)}A='y'\n`, "y"],
  ["one long name", `${"B ".repeat(500_000)}\n`, undefined],
  ["blanks behind a value", `B='x'${" \t".repeat(500_000)}y\n`, undefined],
  ["one long value", `A='${"y".repeat(1_000_000)}'`, "y".repeat(1_000_000)],
])("a file of %s is read in one go", (_what, text, value) => {
  expect(parseEnvFile(text).values.get("A")).toBe(value);
});
