import fc from "fast-check";
import { expect, it } from "vitest";
import { findTailStart } from "./find-tail.ts";

const fileOf = (bytes: Buffer) => ({
  read: async (position: number, maxBytes: number) => bytes.subarray(position, position + maxBytes),
});

/** By the definition: the last lines that end, and what follows them. */
function tailOf(text: string, lines: number): string {
  const parts = text.split("\n");
  const rest = parts.pop() ?? "";
  return [...parts.slice(Math.max(0, parts.length - lines)), rest].join("\n");
}

it("finds the last lines, whatever the blocks in which it reads", async () => {
  const line = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 5 }),
    fc.integer({ min: 60_000, max: 140_000 }).map((length) => "x".repeat(length)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 8 }),
      fc.nat({ max: 9 }),
      fc.boolean(),
      async (texts, lines, isWhole) => {
        const text = texts.join("\n") + (isWhole ? "\n" : "");
        const bytes = Buffer.from(text);
        const start = await findTailStart(fileOf(bytes), { lines, sizeBytes: bytes.length });
        const expected = tailOf(text, lines);
        expect(text.slice(start)).toBe(lines >= texts.length + 1 ? text : expected);
      },
    ),
    { numRuns: 100 },
  );
});
