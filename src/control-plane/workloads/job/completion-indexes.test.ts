import { describe, expect, test } from "vitest";
import {
  countCommonIndexes,
  countIndexes,
  firstFreeIndexes,
  formatIndexes,
  hasIndex,
  intervalsOf,
  parseIndexes,
  uniteIndexes,
} from "./completion-indexes.ts";

describe("completion indexes", () => {
  test.each<[string, number, string, number]>([
    ["", 5, "", 0],
    ["0", 5, "0", 1],
    ["0,1", 5, "0,1", 2],
    ["0-2", 5, "0-2", 3],
    ["0,1,2,4", 5, "0-2,4", 4],
    ["1,3-9", 5, "1,3,4", 3],
    ["7", 5, "", 0],
    ["a,1,2-b,3-2", 5, "1", 1],
  ])("%j of %d are %j", (text, completions, written, count) => {
    const intervals = parseIndexes(text, completions);
    expect(formatIndexes(intervals)).toBe(written);
    expect(countIndexes(intervals)).toBe(count);
  });

  test("are put together in order", () => {
    const all = uniteIndexes(parseIndexes("1-3,8", 10), intervalsOf([9, 4, 4, 0]));
    expect(formatIndexes(all)).toBe("0-4,8,9");
    expect([hasIndex(all, 4), hasIndex(all, 5)]).toEqual([true, false]);
  });

  test.each<[string, number, number[]]>([
    ["", 2, [0, 1]],
    ["0,2-3", 2, [1, 4]],
    ["0,2-3", 9, [1, 4, 5]],
    ["0-5", 3, []],
  ])("with %j taken, the %d first of six that are free are %j", (taken, wanted, free) => {
    expect(firstFreeIndexes(parseIndexes(taken, 6), 6, wanted)).toEqual(free);
  });

  test.each<[string, string, number]>([
    ["0-5", "2-3,9", 2],
    ["0,2,4", "1,3,5", 0],
    ["0,2,4", "0-9", 3],
  ])("%s and %s have %d in common", (one, other, common) => {
    expect(countCommonIndexes(parseIndexes(one, 10), parseIndexes(other, 10))).toBe(common);
  });
});
