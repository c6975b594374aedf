import { describe, expect, it } from "vitest";
import { judgeGrowth } from "./growth.ts";

const samples = (values: readonly number[], owner = "") =>
  values.map((value, index) => ({ at: index * 5, value, owner }));
const times = (count: number, value: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => value(index));

describe("the growth of what a soak counts", () => {
  it.each<[string, number[], boolean]>([
    ["a leak", times(100, (index) => 20 + index), true],
    ["what fills up and stays", times(100, (index) => 20 + Math.min(index, 40)), false],
    ["what goes up and down", times(100, (index) => 20 + (index % 7)), false],
    ["one strange sample at the end", times(100, (index) => (index === 99 ? 500 : 20)), false],
    ["what becomes less", times(100, (index) => 200 - index), false],
  ])("%s", (_what, values, isGrowing) => {
    expect(judgeGrowth({ samples: samples(values), slack: 8 })?.isGrowing).toBe(isGrowing);
  });

  it("is that of the process that was there last", () => {
    const before = times(60, (index) => index * 10).map((value, index) => ({ at: index * 5, value, owner: "1" }));
    const after = times(40, () => 20).map((value, index) => ({ at: 300 + index * 5, value, owner: "2" }));
    expect(judgeGrowth({ samples: [...before, ...after], slack: 8 })).toMatchObject({ median: 20, isGrowing: false });
  });

  it("is not known from a few samples", () => {
    expect(judgeGrowth({ samples: samples([1, 2, 3]), slack: 8 })).toBeUndefined();
    expect(judgeGrowth({ samples: [], slack: 8 })).toBeUndefined();
  });
});
