import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { PodDisruptionBudgetSpec } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { POLICY_KINDS } from "./policy-kinds.ts";

const [BUDGETS] = POLICY_KINDS;
const budget = (spec: PodDisruptionBudgetSpec) => {
  return untyped({ apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "b" }, spec });
};

describe("a pod disruption budget", () => {
  it("allows nothing until somebody has counted, whatever its author says", () => {
    const status = { disruptionsAllowed: 9, currentHealthy: 9, desiredHealthy: 9, expectedPods: 9 };
    expect(BUDGETS?.strategy.prepareCreate?.({ ...budget({}), status })).toMatchObject({
      status: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 },
    });
  });

  it("is changed by those who have read it", () => {
    expect(BUDGETS?.strategy.needsResourceVersion).toBe(true);
  });

  it.each<[string, PodDisruptionBudgetSpec, string[]]>([
    ["may be empty", {}, []],
    ["says how many stay", { minAvailable: 1, selector: { matchLabels: { app: "a" } } }, []],
    ["says which share goes", { maxUnavailable: "25%", unhealthyPodEvictionPolicy: "AlwaysAllow" }, []],
    [
      "says one of the two",
      { minAvailable: 1, maxUnavailable: 0 },
      [
        'spec: Invalid value: {"minAvailable":1,"maxUnavailable":0}: minAvailable and maxUnavailable cannot be both set',
      ],
    ],
    [
      "has a share of all at most",
      { maxUnavailable: "101%" },
      ['spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      "has no less than none",
      { minAvailable: -1 },
      ["spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"],
    ],
    [
      "selects by labels that can be",
      { selector: { matchExpressions: [{ key: "app", operator: "In" }] } },
      [
        "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      ],
    ],
    [
      "treats unhealthy pods in a way that is known",
      { unhealthyPodEvictionPolicy: "Never" },
      [
        'spec.unhealthyPodEvictionPolicy: Unsupported value: "Never": supported values: "AlwaysAllow", "IfHealthyBudget"',
      ],
    ],
  ])("%s", (_name, spec, errors) => {
    expect((BUDGETS?.strategy.validate?.(budget(spec)) ?? []).map(formatFieldError)).toEqual(errors);
  });
});
