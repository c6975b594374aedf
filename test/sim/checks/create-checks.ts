import type { World } from "../world.ts";
import { createBackOffCheck } from "./back-off.ts";
import type { Check } from "./check.ts";
import { createExclusionCheck } from "./exclusion.ts";
import { createGracePeriodCheck } from "./grace-period.ts";
import { createInitOrderCheck } from "./init-order.ts";
import { createMonotonicStatusCheck } from "./monotonic-status.ts";
import { createNeedlessStopCheck } from "./needless-stop.ts";
import { createOwnershipCheck } from "./ownership.ts";
import { createTerminationCheck } from "./termination.ts";
import { createWorkloadCheck } from "./workload.ts";

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
  ];
}
