import { describe, expect, it } from "vitest";
import { parseSentYaml, parseYaml } from "./yaml.ts";

const MEBIBYTE = 1024 * 1024;
const repeated = (unit: string) => unit.repeat(MEBIBYTE / unit.length);

/** Reads as the API server reads a body, and counts the pauses. */
async function readSent(text: string) {
  let pauses = 0;
  const documents = await parseSentYaml(text, async () => {
    pauses++;
  });
  return { documents, pauses };
}

describe("text that somebody sent", () => {
  it.each<[string, string, string]>([
    ["nests by dashes", repeated("- "), "nested more than 200 levels deep"],
    ["nests by brackets", repeated("["), "nested more than 200 levels deep"],
    ["nests by question marks", repeated("? "), "nested more than 200 levels deep"],
    ["nests by colons", repeated(": "), "nested more than 200 levels deep"],
    ["has too many tags", repeated("!a "), "more than 40000 tokens"],
    ["has too many items", `[${repeated("a,")}]`, "more than 40000 tokens"],
    ["has too many anchors", repeated("&a "), "more than 40000 tokens"],
    ["has too many lines", repeated("#\n"), "more than 60000 lines"],
    ["repeats too much by aliases", `a: &a ${"x".repeat(9_000)}\nb: [${"*a,".repeat(20)}]`, "aliases repeat too much"],
    ["has too many errors in one scalar", `a: "${repeated("\\q")}"`, "more than 1000 errors and warnings"],
    ["has a bracket too many on each line", "]\n".repeat(5_000), "more than 1000 errors and warnings"],
  ])("is refused where it %s", async (_what, text, problem) => {
    const { documents } = await readSent(text);
    expect(documents.flatMap(({ errors }) => errors)).toEqual([expect.stringContaining(problem)]);
  });

  it("is read in steps, and others may run between them", async () => {
    const { documents, pauses } = await readSent(Array.from({ length: 10_000 }, (_, i) => `k${i}: v`).join("\n"));
    expect(documents).toEqual([
      { number: 1, value: expect.objectContaining({ k9999: "v" }), errors: [], warnings: [] },
    ]);
    expect(pauses).toBeGreaterThan(40);
  });

  it("may nest two hundred levels", async () => {
    const nested = (levels: number) => `a: ${"[".repeat(levels)}${"]".repeat(levels)}`;
    expect((await readSent(nested(199))).documents).toMatchObject([{ errors: [] }]);
    expect((await readSent(nested(201))).documents).toMatchObject([{ errors: [expect.stringContaining("nested")] }]);
  });
});

it("reads files of this machine that are larger", () => {
  const text = Array.from({ length: 70_000 }, (_, i) => `- ${i}`).join("\n");
  expect(parseYaml(text)).toMatchObject([{ number: 1, errors: [] }]);
});

it.each([
  ["a: |\n  b\n  c", "b\nc"],
  ["a: >\n  b\n  c", "b c"],
  ["a: |+\n  b", "b"],
  ["a: |\n  b\n", "b\n"],
  ["a: |-\n  b", "b"],
])("gives a block of lines at the end no line break that it has not: %j", (text, value) => {
  expect(parseYaml(text).map((document) => document.value)).toEqual([{ a: value }]);
});
