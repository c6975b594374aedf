import { expect, it } from "vitest";
import { expandSubPath } from "./sub-path-expression.ts";

const ENVIRONMENT = [
  { name: "POD", value: "web" },
  { name: "EMPTY", value: "" },
  { name: "NESTED", value: "$(POD)" },
  { name: "UP", value: "../up" },
];

// pkg/kubelet/container/helpers_test.go, TestExpandVolumeMountsWithSubpath.
it.each([
  ["logs", "logs"],
  ["logs/$(POD)", "logs/web"],
  ["$(POD)-$(POD)", "web-web"],
  ["$$(POD)", "$(POD)"],
  ["$(NESTED)", "$(POD)"],
  ["$(UP)", "../up"],
  ["$(unfinished", "$(unfinished"],
])("%s is %s", (expression, value) => {
  expect(expandSubPath(expression, ENVIRONMENT)).toEqual({ ok: true, value });
});

it("is no path where its values make it too long", () => {
  const environment = [{ name: "X", value: "x".repeat(10_000) }];
  const error = "it expands to more than 131072 bytes";
  expect(expandSubPath("$(X)".repeat(100_000), environment)).toEqual({ ok: false, error });
});

it.each([
  ["$(EMPTY)", "EMPTY"],
  ["$(ZED)/$(POD)/$(ALSO)/$(ZED)", "ALSO, ZED"],
  ["$()", ""],
])("%s lacks a value", (expression, names) => {
  expect(expandSubPath(expression, ENVIRONMENT)).toEqual({ ok: false, error: `missing value for ${names}` });
});
