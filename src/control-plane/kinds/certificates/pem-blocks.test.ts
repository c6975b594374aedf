import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findPemBlocks } from "./pem-blocks.ts";

const show = (text: string) =>
  findPemBlocks(text).map(({ label, hasHeaders, bytes }) => [label, hasHeaders, bytes.toString()]);
const block = (lines: string, label = "L") => `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;

describe("blocks of PEM", () => {
  it.each([
    ["one", block("YWJj"), [["L", false, "abc"]]],
    ["an empty one", "-----BEGIN L-----\n-----END L-----\n", [["L", false, ""]]],
    [
      "words between",
      `x\n${block("YWJj")}y\n${block("YWI=", "M N")}z`,
      [
        ["L", false, "abc"],
        ["M N", false, "ab"],
      ],
    ],
    ["several lines, with blanks and returns", block("YW\r\n \tJj\r\n\r"), [["L", false, "abc"]]],
    ["headers", block("Proc-Type: 4\nA: b\n\nYWJj"), [["L", true, "abc"]]],
    ["a colon after the headers", block("YWJj\nA: b"), []],
    ["no base64", block("YW*j"), []],
    ["base64 that is cut", block("YWJ"), []],
    ["padding in the middle", block("YW==YWJj"), []],
    ["another label at the end", "-----BEGIN L-----\nYWJj\n-----END M-----\n", []],
    ["no end", "-----BEGIN L-----\nYWJj\n", []],
    ["a block that begins anew", `-----BEGIN L-----\nYWI=\n${block("YWJj")}`, [["L", false, "abc"]]],
    ["a boundary that is not at the start of its line", ` ${block("YWJj")}`, []],
  ])("with %s", (_what, text, blocks) => {
    expect(show(text)).toEqual(blocks);
  });

  it("come out as they went in", () => {
    const bytes = fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array));
    const words = fc.string().filter((text) => !text.includes("-----"));
    fc.assert(
      fc.property(fc.array(fc.tuple(bytes, words), { maxLength: 5 }), (parts) => {
        const text = parts.map(([content, word]) => `${word}\n${block(content.toString("base64"))}`).join("");
        expect(findPemBlocks(text).map((found) => found.bytes)).toEqual(parts.map(([content]) => content));
      }),
    );
  });
});
