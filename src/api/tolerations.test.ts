import { describe, expect, test } from "vitest";
import type { Taint, Toleration } from "./gen/types.ts";
import { findUntolerated, tolerates } from "./tolerations.ts";

const TAINT: Taint = { key: "lane", value: "5", effect: "NoSchedule" };

describe("a toleration tolerates", () => {
  test.each<[Toleration, boolean]>([
    [{ key: "lane", operator: "Equal", value: "5", effect: "NoSchedule" }, true],
    [{ key: "lane", value: "5" }, true],
    [{ key: "lane", value: "6" }, false],
    [{ key: "lane" }, false],
    [{ key: "lane", operator: "Exists" }, true],
    [{ key: "lane", operator: "Exists", effect: "NoExecute" }, false],
    [{ key: "other", operator: "Exists" }, false],
    [{ operator: "Exists" }, true],
    [{ operator: "Exists", effect: "NoExecute" }, false],
    [{ key: "lane", operator: "Gt", value: "4" }, true],
    [{ key: "lane", operator: "Gt", value: "5" }, false],
    [{ key: "lane", operator: "Lt", value: "6" }, true],
    [{ key: "lane", operator: "Lt", value: "x" }, false],
    [{ key: "lane", operator: "Near", value: "5" }, false],
  ])("%j: %j", (toleration, expected) => {
    expect(tolerates(toleration, TAINT)).toBe(expected);
  });

  test("an empty value of a taint that has none", () => {
    expect(tolerates({ key: "lane", operator: "Equal" }, { key: "lane", effect: "NoSchedule" })).toBe(true);
  });
});

test("the first untolerated taint is found among the effects that count", () => {
  const taints: Taint[] = [
    { key: "soft", effect: "PreferNoSchedule" },
    { key: "known", effect: "NoSchedule" },
    { key: "hard", effect: "NoExecute" },
  ];
  const tolerations: Toleration[] = [{ key: "known", operator: "Exists" }];
  expect(findUntolerated(taints, tolerations, ["NoSchedule", "NoExecute"])?.key).toBe("hard");
  expect(findUntolerated(taints, tolerations, ["NoSchedule"])).toBeUndefined();
});
