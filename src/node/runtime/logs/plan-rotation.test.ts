import { expect, it } from "vitest";
import { planRotation, rotatedName } from "./plan-rotation.ts";

const at = (second: number) => `0.log.20260102-0304${String(second).padStart(2, "0")}`;

it.each<[string, string[], number, string[], string[]]>([
  ["nothing was rotated", ["0.log"], 5, [], []],
  ["one was", ["0.log", at(1)], 5, [], [at(1)]],
  ["others are compressed", ["0.log", `${at(1)}.gz`, at(2)], 5, [], [at(2)]],
  [
    "too many, the oldest go",
    ["0.log", `${at(1)}.gz`, `${at(2)}.gz`, `${at(3)}.gz`, at(4)],
    4,
    [`${at(1)}.gz`, `${at(2)}.gz`],
    [at(4)],
  ],
  ["two files at most", ["0.log", at(1), at(2)], 2, [at(1), at(2)], []],
  ["compressing was cut short", ["0.log", at(1), `${at(1)}.tmp`], 5, [`${at(1)}.tmp`], [at(1)]],
  ["compressed, and the crash came before the removal", ["0.log", at(1), `${at(1)}.gz`], 5, [at(1)], []],
  ["others' files", ["0.log", "0.log.bak", "1.log", "10.log.20260102-030401", "0.log.20260102-030401.x"], 2, [], []],
])("%s", (_what, names, maxFiles, remove, compress) => {
  expect(planRotation(names, "0.log", maxFiles)).toEqual({ remove, compress });
});

it("names rotated files in the order of their times", () => {
  const now = Date.UTC(2026, 9, 25, 1, 2, 3, 999);
  expect(rotatedName(["0.log"], "0.log", now)).toBe("0.log.20261025-010203");
  const taken = ["0.log.20261025-010203.gz", "0.log.20261025-010204"];
  expect(rotatedName(taken, "0.log", now)).toBe("0.log.20261025-010205");
});
