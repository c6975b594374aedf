import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListBody } from "./list-body.ts";

/** UTF-8 has no form for half a pair of surrogates; JSON writes one with an escape. */
const text = fc.string({ unit: "grapheme", maxLength: 40 });
const long = fc.constantFrom("ä".repeat(30_000), "x".repeat(70_000), "€".repeat(70_000));
const piece = fc.record({
  isStored: fc.boolean(),
  text: fc.oneof({ weight: 9, arbitrary: text }, long, fc.constant(",")),
});

describe("the body of a list", () => {
  it("is what was put into it, in order", () => {
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const body = createListBody();
        for (const { isStored, text } of pieces) {
          if (isStored) body.addStored(Buffer.from(text));
          else body.add(text);
        }
        expect(Buffer.concat([...body.chunks()]).toString()).toBe(pieces.map(({ text }) => text).join(""));
      }),
      { numRuns: 50 },
    );
  });

  it("holds what is stored without a copy of it", () => {
    const stored = Buffer.from("stored");
    const body = createListBody();
    body.add("[");
    body.addStored(stored);
    body.add(",");
    body.addStored(stored);
    expect(body.chunks().filter((chunk) => chunk === stored)).toHaveLength(2);
  });

  it("takes little memory for many short texts", () => {
    const body = createListBody();
    for (let index = 0; index < 1_000; index++) {
      body.add(`row ${index}`);
      body.addStored(Buffer.from("stored"));
    }
    const slabs = new Set(body.chunks().map(({ buffer }) => buffer));
    expect([...slabs].filter(({ byteLength }) => byteLength === 64 * 1024)).toHaveLength(1);
  });
});
