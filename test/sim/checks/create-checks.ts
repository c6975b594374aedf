import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import type { PublishedStatus } from "../node.ts";
import type { World } from "../world.ts";
import { createBackOffCheck } from "./back-off.ts";
import { createExclusionCheck } from "./exclusion.ts";
import { createGracePeriodCheck } from "./grace-period.ts";
import { createInitOrderCheck } from "./init-order.ts";
import { createMonotonicStatusCheck } from "./monotonic-status.ts";
import { createNeedlessStopCheck } from "./needless-stop.ts";
import { createOwnershipCheck } from "./ownership.ts";
import { createTerminationCheck } from "./termination.ts";
import { createWorkloadCheck } from "./workload.ts";

/** Watches a run and calls `world.fail` when its invariant does not hold. */
export interface Check {
  /** Something became true in the runtime; called at that moment. */
  occurred?(occurrence: FakeOccurrence): void;
  /** The node agent calls the runtime. */
  called?(rpc: string, request: unknown): void;
  /** The node agent published a status that is news. */
  published?(published: PublishedStatus): void;
  /** A process of the node agent starts. */
  started?(): void;
  /** Everything that needs no more time has happened. */
  stepped?(): void;
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
  ];
}
