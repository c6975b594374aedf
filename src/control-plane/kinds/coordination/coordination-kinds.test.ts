import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { LeaseSpec } from "../../../api/gen/types.ts";
import { untyped } from "../../../api/object.ts";
import { COORDINATION_KINDS } from "./coordination-kinds.ts";

const [LEASES] = COORDINATION_KINDS;
const lease = (spec: LeaseSpec) => {
  return untyped({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" }, spec });
};

describe("a lease", () => {
  it("is taken with a PUT, and then only by who has seen who holds it", () => {
    expect(LEASES?.strategy).toMatchObject({ createsOnUpdate: true, needsResourceVersion: true });
  });

  it.each<[string, LeaseSpec, string[]]>([
    ["may be nobody's", {}, []],
    ["is held for a while", { holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 }, []],
    [
      "is not held for no time",
      { leaseDurationSeconds: 0 },
      ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"],
    ],
    [
      "has not changed hands less than never",
      { leaseTransitions: -1 },
      ["spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0"],
    ],
    [
      "prefers a holder only by a strategy",
      { preferredHolder: "b" },
      ["spec.preferredHolder: Forbidden: may only be specified if `strategy` is defined"],
    ],
  ])("%s", (_name, spec, errors) => {
    expect((LEASES?.strategy.validate?.(lease(spec)) ?? []).map(formatFieldError)).toEqual(errors);
  });
});
