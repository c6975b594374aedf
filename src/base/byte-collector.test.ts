import { describe, expect, it } from "vitest";
import { createByteCollector } from "./byte-collector.ts";
import { createSeededRandom } from "./random.ts";

const MIB = 1024 * 1024;

describe("collected pieces", () => {
  it.each([
    ["none", []],
    ["one", [5]],
    ["empty ones", [0, 0, 3, 0]],
    ["a few", [1, 2, 3]],
    ["many small ones", Array(300).fill(7)],
    ["small ones that fill a block exactly", Array(64 + 64 * 1024).fill(1)],
    ["large ones", [4096, 70_000, 4096]],
    ["small and large ones in turn", Array.from({ length: 400 }, (_, index) => (index % 2 === 0 ? 1 : 5000))],
  ])("are one body: %s", (_name, sizes) => {
    const random = createSeededRandom(sizes.length);
    const pieces = sizes.map((size) => Buffer.alloc(size, Math.floor(random.next() * 256)));
    const collector = createByteCollector();
    for (const piece of pieces) collector.add(piece);
    expect(collector.length).toBe(sizes.reduce((sum, size) => sum + size, 0));
    expect(collector.take().equals(Buffer.concat(pieces))).toBe(true);
    expect([collector.length, collector.take().length]).toEqual([0, 0]);
  });

  it("of any cut are the same bytes", () => {
    const random = createSeededRandom(7);
    for (let turn = 0; turn < 50; turn++) {
      const body = Buffer.from(Array.from({ length: 20_000 }, () => Math.floor(random.next() * 256)));
      const collector = createByteCollector();
      const longest = [2, 100, 9_000][turn % 3] ?? 1;
      for (let at = 0; at < body.length; ) {
        const end = at + Math.ceil(random.next() * longest);
        collector.add(body.subarray(at, end));
        at = end;
      }
      expect(collector.take().equals(body)).toBe(true);
    }
  });

  it.each([0, 1, 300, 1_300])("are put together in turns of some megabytes: %s pieces of 64 KiB", async (count) => {
    const collector = createByteCollector();
    const pieces = Array.from({ length: count }, (_, index) => Buffer.alloc(64 * 1024, index));
    for (const piece of pieces) collector.add(piece);
    let pauses = 0;
    const whole = await collector.takeInTurns(async () => {
      pauses++;
      expect(collector.length).toBe(0);
    });
    expect(whole.equals(Buffer.concat(pieces))).toBe(true);
    expect(pauses).toBe(Math.floor((count * 64 * 1024) / (2 * MIB)));
  });

  it("is the very piece where there is one", () => {
    const piece = Buffer.from("whole");
    const collector = createByteCollector();
    collector.add(piece);
    expect(collector.take()).toBe(piece);
  });

  it("of one byte each take about as much memory as bytes", () => {
    const collector = createByteCollector();
    const source = Buffer.alloc(1);
    const before = process.memoryUsage();
    for (let count = 0; count < 8 * MIB; count++) collector.add(source.subarray(0));
    const after = process.memoryUsage();
    const kept = after.arrayBuffers - before.arrayBuffers;
    expect(kept).toBeLessThan(9 * MIB);
    expect(collector.take()).toHaveLength(8 * MIB);
  });
});
