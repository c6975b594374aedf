import type { FieldError } from "../../../api/field-error.ts";
import type { LeaseSpec } from "../../../api/gen/types.ts";
import { forbidden, invalid, unsupported } from "../../../api/validation/problems.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";

export const COORDINATION_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: "coordination.k8s.io",
    kind: "Lease",
    plural: "leases",
    strategy: strategyOf("Lease", {
      createsOnUpdate: true,
      needsResourceVersion: true,
      validate: ({ spec }) => validateLease(spec ?? {}),
    }),
  }),
];

function validateLease(spec: LeaseSpec): FieldError[] {
  const { leaseDurationSeconds: duration, leaseTransitions: transitions, strategy, preferredHolder } = spec;
  const errors: FieldError[] = [];
  if (duration !== undefined && duration <= 0) {
    errors.push(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  if (transitions !== undefined && transitions < 0) {
    errors.push(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  if (strategy !== undefined && strategy !== "OldestEmulationVersion") {
    errors.push(unsupported("spec.strategy", strategy, ["OldestEmulationVersion"]));
  }
  if (preferredHolder && !strategy) {
    errors.push(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}
