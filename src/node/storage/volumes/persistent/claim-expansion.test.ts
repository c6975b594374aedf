import { expect, it } from "vitest";
import type { PersistentVolumeClaim, PersistentVolumeClaimStatus } from "../../../../api/gen/types.ts";
import { isOverruled, planExpansion } from "./claim-expansion.ts";

const ALLOCATED = { allocatedResources: { storage: "2Gi" } };
const NOT_REQUIRED = { "volume.kubernetes.io/node-expansion-not-required": "true" };

interface Case {
  readonly status: PersistentVolumeClaimStatus;
  readonly accessMode?: string;
  readonly annotations?: Record<string, string>;
}

const claimOf = ({ status, accessMode = "ReadWriteOnce", annotations = {} }: Case): PersistentVolumeClaim => ({
  metadata: { annotations },
  spec: { accessModes: [accessMode], resources: { requests: { storage: "2Gi" } } },
  status,
});
const told: PersistentVolumeClaimStatus = { capacity: { storage: "2Gi" }, ...ALLOCATED };

it.each<[string, Case, object]>([
  ["is done where the claim says so already", { status: told }, { kind: "none" }],
  [
    "is each node's where several write",
    { status: told, accessMode: "ReadWriteMany" },
    { kind: "expand", mark: false, tell: false },
  ],
  [
    "is no node's where the resizer says so",
    { status: told, accessMode: "ReadWriteMany", annotations: NOT_REQUIRED },
    { kind: "none" },
  ],
  ["waits for the controller", { status: { capacity: { storage: "1Gi" }, ...ALLOCATED } }, { kind: "wait" }],
  [
    "is told to resizers of old",
    { status: { capacity: { storage: "1Gi" } } },
    { kind: "expand", mark: false, tell: true },
  ],
])("the growth of a volume that this node knows as smaller %s", (_what, claim, plan) => {
  expect(planExpansion(claimOf(claim), { volumeSize: "2Gi", knownSize: "1Gi" })).toEqual(plan);
});

it("a failed attempt is overruled by a claim that asks for another size", () => {
  const failed = { conditions: [{ type: "NodeResizeError", status: "True" }] };
  expect(isOverruled(claimOf({ status: failed }), "3Gi")).toBe(true);
  expect(isOverruled(claimOf({ status: failed }), "2Gi")).toBe(false);
  expect(isOverruled(claimOf({ status: {} }), "3Gi")).toBe(false);
});
