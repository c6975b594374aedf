import type { FieldError } from "../../../api/field-error.ts";
import type { PodDisruptionBudgetSpec } from "../../../api/gen/types.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { invalid, optionalOneOf } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { atMostAll, validateIntOrPercent } from "../rules/int-or-percent.ts";
import { checkPathSegment } from "../rules/path-segment.ts";
import { type StatusCounts, validateConditions, validateCounts } from "../rules/workload-status.ts";
import { strategyOf } from "../typed-strategy.ts";

const COUNTS: StatusCounts = { counts: ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] };

export const POLICY_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "policy",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    status: true,
    validateStatus: (next, current) => [...validateConditions(next), ...validateCounts(COUNTS, next, current)],
    strategy: strategyOf("PodDisruptionBudget", {
      generation: true,
      needsResourceVersion: true,
      checkName: checkPathSegment,
      default(draft) {
        draft.spec ??= {};
      },
      initialStatus: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
      validate: ({ spec }) => validateBudget(spec ?? {}),
    }),
  }),
];

function validateBudget(spec: PodDisruptionBudgetSpec): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    errors.push(invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const [field, value] of Object.entries({ minAvailable, maxUnavailable })) {
    errors.push(...validateIntOrPercent(`spec.${field}`, value), ...atMostAll(`spec.${field}`, value));
  }
  return [
    ...errors,
    ...validateLabelSelector("spec.selector", selector),
    ...optionalOneOf("spec.unhealthyPodEvictionPolicy", policy, ["AlwaysAllow", "IfHealthyBudget"]),
  ];
}
