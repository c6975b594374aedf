import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWatchFrameReader } from "./watch-frames.ts";

function readAll(chunks: readonly Buffer[], maxBytes = 1_000_000) {
  const reader = createWatchFrameReader(maxBytes);
  const frames: string[] = [];
  for (const chunk of chunks) reader.push(chunk, (frame) => frames.push(frame.toString()));
  return { frames, pendingBytes: reader.pendingBytes };
}

describe("frames of a watch", () => {
  it("are the lines, however the bytes are cut", () => {
    const lines = fc.array(fc.string({ unit: "binary" }).map((text) => text.replaceAll("\n", " ")));
    fc.assert(
      fc.property(
        lines,
        fc.string({ unit: "binary" }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (all, rest, cuts) => {
          const unfinished = rest.replaceAll("\n", " ");
          const bytes = Buffer.from(all.map((line) => `${line}\n`).join("") + unfinished);
          const chunks: Buffer[] = [];
          for (let at = 0; at < bytes.length; ) {
            const size = cuts.next().value;
            chunks.push(bytes.subarray(at, at + size));
            at += size;
          }
          const expected = all.filter((line) => line !== "").map((line) => Buffer.from(line).toString());
          expect(readAll(chunks)).toEqual({ frames: expected, pendingBytes: Buffer.byteLength(unfinished) });
        },
      ),
    );
  });

  it("of one chunk are that chunk's bytes, and not a copy", () => {
    const chunk = Buffer.from("ab\n");
    createWatchFrameReader(10).push(chunk, (frame) => expect(frame.buffer).toBe(chunk.buffer));
  });

  it("are not longer than the bound, in one piece or in many", () => {
    expect(readAll([Buffer.from("1234\n")], 4).frames).toEqual(["1234"]);
    expect(() => readAll([Buffer.from("12345")], 4)).toThrow("longer than 4 bytes");
    expect(() => readAll([Buffer.from("123"), Buffer.from("45\n")], 4)).toThrow("longer than 4 bytes");
  });
});
