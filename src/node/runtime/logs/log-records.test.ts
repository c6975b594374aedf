import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { line } from "./__fixtures__/log-rig.ts";
import { createLogRecords, type LogPiece } from "./log-records.ts";

const contents = (pieces: readonly LogPiece[]) => pieces.map(({ content }) => content.toString("utf8")).join("");

it.each([
  ["a whole line", line("text"), "text\n"],
  ["a line of spaces", line("  "), "  \n"],
  ["an empty line", line(""), "\n"],
  ["a line that the runtime has split", line("one ", { tag: "P" }) + line("two"), "one two\n"],
  ["tags of a later version", line("text", { tag: "P:x:y" }), "text"],
  ["a carriage return", line("text\r"), "text\r\n"],
  ["what is no record, between others", `${line("a")}nonsense\n\n${line("b")}`, "a\nb\n"],
  ["a stream that nobody knows", line("text", { stream: "stdlog" }), ""],
  ["a time that is none", "yesterday stdout F text\n", ""],
])("reads %s", (_what, bytes, expected) => {
  expect(contents(createLogRecords().push(Buffer.from(bytes)))).toBe(expected);
});

it("gives what there is of a record that is not whole, when the log ends", () => {
  const records = createLogRecords();
  expect(records.push(Buffer.from(line("text").slice(0, -3)))).toEqual([]);
  expect(records.isWithinRecord).toBe(true);
  expect(contents(records.end())).toBe("te");
  expect(records.isWithinRecord).toBe(false);
});

it("takes a line whose header does not end soon for no record, however its bytes arrive", () => {
  const bytes = Buffer.from(line("text", { tag: "F:".padEnd(70_000, "x") }));
  const [whole, cut] = [createLogRecords(), createLogRecords()];
  expect(whole.push(bytes)).toEqual([]);
  for (let at = 0; at < bytes.length; at += 1_000) expect(cut.push(bytes.subarray(at, at + 1_000))).toEqual([]);
  expect([whole.unreadable, cut.unreadable]).toEqual([1, 1]);
});

describe("in any portions", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", " ", "\r", "0") });
  const longText = fc.integer({ min: 60_000, max: 200_000 }).map((length) => "x".repeat(length));
  const record = fc
    .record({
      text: fc.oneof({ arbitrary: text, weight: 9 }, { arbitrary: longText, weight: 1 }),
      tag: fc.constantFrom("F", "P"),
      stream: fc.constantFrom("stdout", "stderr"),
      isNonsense: fc.boolean(),
    })
    .map(({ text, isNonsense, ...options }) => ({
      bytes: isNonsense ? `${text.replaceAll(" ", "")}\n` : line(text, options),
      content: isNonsense ? "" : text + (options.tag === "P" ? "" : "\n"),
    }));

  it("gives the same, and holds no more than it must", () => {
    const portions = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), portions, (records, sizes) => {
        const bytes = Buffer.from(records.map((one) => one.bytes).join(""));
        const parser = createLogRecords();
        let given = "";
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = sizes[turn % sizes.length] ?? 1;
          const pieces = parser.push(bytes.subarray(at, at + size));
          for (const { content } of pieces) expect(content.length).toBeLessThan(64 * 1024 + 70_000);
          given += Buffer.concat(pieces.map(({ content }) => content)).toString("latin1");
          at += size;
        }
        const expected = records.map(({ content }) => content).join("");
        expect(given).toBe(Buffer.from(expected).toString("latin1"));
        expect(parser.end()).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
