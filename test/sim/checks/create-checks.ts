import type { Cluster } from "../api/create-cluster.ts";
import type { Storage } from "../storage/create-storage.ts";
import type { World } from "../world.ts";
import { createApiDeletionCheck } from "./api-deletion.ts";
import { createApiReferencesCheck } from "./api-references.ts";
import { createApiStatusCheck } from "./api-status.ts";
import { createApiWorkloadCheck } from "./api-workload.ts";
import { createBackOffCheck } from "./back-off.ts";
import type { Check } from "./check.ts";
import { createClaimsCheck } from "./claims.ts";
import { createDriverCallsCheck } from "./driver-calls.ts";
import { createEvictionCheck } from "./eviction.ts";
import { createExclusionCheck } from "./exclusion.ts";
import { createGracePeriodCheck } from "./grace-period.ts";
import { createInitOrderCheck } from "./init-order.ts";
import { createMonotonicStatusCheck } from "./monotonic-status.ts";
import { createNeedlessStopCheck } from "./needless-stop.ts";
import { createNodePressureCheck } from "./node-pressure.ts";
import { createOwnershipCheck } from "./ownership.ts";
import { createPodCgroupsCheck } from "./pod-cgroups.ts";
import { createPreemptionCheck } from "./preemption.ts";
import { createProbeEvidenceCheck } from "./probe-evidence.ts";
import { createSecrecyCheck } from "./secrecy.ts";
import { createTerminationCheck } from "./termination.ts";
import { createVolumesCheck } from "./volumes.ts";
import { createWorkloadCheck } from "./workload.ts";

/** The checks that a node with an API server gets besides all others. */
function createApiChecks(world: World): Check[] {
  const { cluster, growth, places, shortage } = world;
  if (cluster === undefined) return [];
  return [
    createApiStatusCheck(world, cluster),
    createApiDeletionCheck(world, cluster),
    createApiReferencesCheck(world, cluster),
    createApiWorkloadCheck(world),
    ...(growth ? [createEvictionCheck(world, growth)] : []),
    ...(places ? [createPreemptionCheck(world, places)] : []),
    ...(shortage ? [createNodePressureCheck(world, shortage)] : []),
    ...(cluster.storage ? createStorageChecks(world, cluster, cluster.storage) : []),
  ];
}

function createStorageChecks(world: World, cluster: Cluster, storage: Storage): Check[] {
  return [
    createDriverCallsCheck(world, storage),
    createClaimsCheck(world, storage, cluster),
    createSecrecyCheck(world),
  ];
}

export function createChecks(world: World): Check[] {
  return [
    createExclusionCheck(world),
    createTerminationCheck(world),
    createMonotonicStatusCheck(world),
    createInitOrderCheck(world),
    createGracePeriodCheck(world),
    createNeedlessStopCheck(world),
    createOwnershipCheck(world),
    createBackOffCheck(world),
    createWorkloadCheck(world),
    createVolumesCheck(world),
    createPodCgroupsCheck(world),
    ...(world.probed ? [createProbeEvidenceCheck(world, world.probed)] : []),
    ...createApiChecks(world),
  ];
}
