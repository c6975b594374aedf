import { describe, expect, it } from "vitest";
import { checkRule, formatViolations } from "./apply-exceptions.ts";
import { EXCEPTIONS } from "./exceptions.ts";
import { loadTree } from "./load-tree.ts";
import { ENTRY_POINTS } from "./ranks.ts";
import { RULES } from "./rules.ts";

const tree = loadTree();

describe("this repository", () => {
  for (const rule of RULES) {
    it(`keeps the rule ${rule.name}`, () => {
      const violations = checkRule(rule, tree, EXCEPTIONS);
      if (violations.length > 0) expect.fail(formatViolations(rule, violations));
    });
  }

  it("has no rule of the same name twice, and no exception to a rule that does not exist", () => {
    const names = RULES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(EXCEPTIONS.map(({ rule }) => rule).filter((rule) => !names.includes(rule))).toEqual([]);
  });

  it("has every entry point that the table names", () => {
    expect(ENTRY_POINTS.filter((path) => !tree.paths.has(path))).toEqual([]);
  });
});
