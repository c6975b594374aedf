import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { colour, wantsColour } from "./colour.ts";

it.each([
  ["a terminal", {}, true, true],
  ["a pipe", {}, false, false],
  ["a terminal that should have none", { NO_COLOR: "1" }, true, false],
  ["a terminal where NO_COLOR is empty", { NO_COLOR: "" }, true, true],
  ["a terminal without colours", { TERM: "dumb" }, true, false],
  ["a pipe that should have some", { FORCE_COLOR: "1" }, false, true],
  ["a pipe where FORCE_COLOR is empty", { FORCE_COLOR: "" }, false, true],
  ["a terminal where FORCE_COLOR is 0", { FORCE_COLOR: "0" }, true, false],
  ["both variables, of which Node.js takes FORCE_COLOR", { FORCE_COLOR: "1", NO_COLOR: "1" }, false, true],
])("%s has colours or not", (_, environment, isTerminal, wanted) => {
  expect(wantsColour(environment, isTerminal)).toBe(wanted);
});

it("a text has its colour and no more", () => {
  expect(colour("ok", "green", true)).toBe("\u001b[32mok\u001b[39m");
  expect(colour("ok", "green", false)).toBe("ok");
});

it("no command writes control sequences but by what asks whether they are wanted", () => {
  const directory = fileURLToPath(new URL(".", import.meta.url));
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  const sources = names.filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const writers = sources.filter((name) => /\\u001b|\\x1b|styleText/.test(readFileSync(join(directory, name), "utf8")));
  // Progress rewrites its line on a terminal alone; a pipe gets whole lines.
  expect(writers.toSorted()).toEqual(["colour.ts", "progress.ts"]);
});
