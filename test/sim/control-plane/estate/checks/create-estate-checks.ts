import type { LedgerCheck } from "../../checks/check.ts";
import { createReplicaCheck } from "../../checks/replicas.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import type { Estate } from "../estate.ts";
import { createAutoscalerCheck } from "./autoscalers.ts";
import { createClaimCheck } from "./claims.ts";
import { createFamilyCheck } from "./families.ts";
import { createFinishedJobCheck } from "./finished-jobs.ts";
import { createNamespaceCheck } from "./namespaces.ts";
import { createTaintCheck } from "./taints.ts";
import { createWideQuotaCheck } from "./wide-quotas.ts";

/** What must hold at every write of what the estate has. */
export function createEstateChecks(world: ControlPlaneWorld, estate: Estate): readonly LedgerCheck[] {
  return [
    createReplicaCheck(world, { resource: "replicationcontrollers", kind: "ReplicationController" }),
    createAutoscalerCheck(world, estate),
    createClaimCheck(world),
    createFamilyCheck(world),
    createFinishedJobCheck(world),
    createNamespaceCheck(world),
    createTaintCheck(world),
    createWideQuotaCheck(world),
  ];
}
