import { describe, expect, it } from "vitest";
import type { Curve } from "./curves.ts";
import { drawCurves } from "./draw-curves.ts";

const curve = (name: string, ...ys: number[]): Curve => {
  const points = ys.map((y, index) => ({ x: 10 ** index, y }));
  return { case: "growth", name, unit: "ms", of: "pods", points, exponent: 1 };
};
const count = (text: string, part: RegExp) => [...text.matchAll(part)].length;

describe("drawCurves", () => {
  it("draws a panel a curve with a mark a point, its axes and its exponent", () => {
    const svg = drawCurves("How it grows", [curve("first", 1, 10, 100), curve("second", 4, 5, 6)]);
    expect(count(svg, /<polyline/g)).toBe(2);
    expect(count(svg, /<circle/g)).toBe(6);
    expect(svg).toContain(">first (ms)<");
    expect(svg).toContain(">∝ n^1.00<");
    expect(svg).toContain("<title>How it grows</title>");
  });

  it("puts the same ratio the same distance apart", () => {
    const svg = drawCurves("", [curve("first", 1, 10, 100)]);
    const [a, b, c] = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [
      Number(x),
      Number(y),
    ]);
    const [ax = 0, ay = 0] = a ?? [];
    const [bx = 0, by = 0] = b ?? [];
    const [cx = 0, cy = 0] = c ?? [];
    expect(bx - ax).toBeCloseTo(cx - bx, 0);
    expect(ay - by).toBeCloseTo(by - cy, 0);
    expect(ay).toBeGreaterThan(by);
  });

  it("keeps everything within the picture, whatever the values", () => {
    const svg = drawCurves("", [curve("same", 3, 3, 3), curve("none", 0, 0), curve("one", 5), curve("far", 1e-3, 1e6)]);
    const [, width = "", height = ""] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
    const places = [...svg.matchAll(/<circle cx="([^"]+)" cy="([^"]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
    expect(places.length).toBeGreaterThan(0);
    for (const [x = Number.NaN, y = Number.NaN] of places) {
      expect(x).toBeGreaterThan(0);
      expect(x).toBeLessThan(Number(width));
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(Number(height));
    }
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("escapes names", () => {
    expect(drawCurves("a<b", [curve("x & y", 1, 2)])).toContain("x &amp; y");
  });
});
