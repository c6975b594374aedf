import { createEstateChecks } from "../estate/checks/create-estate-checks.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";
import { createCronJobCheck } from "./cron-jobs.ts";
import { createDaemonCheck } from "./daemons.ts";
import { createEvictionCheck } from "./evictions.ts";
import { createJobCheck } from "./jobs.ts";
import { createQuotaCheck } from "./quotas.ts";
import { createReplicaCheck } from "./replicas.ts";
import { createRolloutCheck } from "./rollouts.ts";
import { createStatefulCheck } from "./stateful.ts";

/** What must hold at every write. */
export function createChecks(world: ControlPlaneWorld): readonly LedgerCheck[] {
  return [
    createReplicaCheck(world, { resource: "replicasets.apps", kind: "ReplicaSet" }),
    createRolloutCheck(world),
    createStatefulCheck(world),
    createDaemonCheck(world),
    createJobCheck(world),
    createCronJobCheck(world),
    createQuotaCheck(world),
    createEvictionCheck(world),
    ...(world.estate === undefined ? [] : createEstateChecks(world, world.estate)),
  ];
}
