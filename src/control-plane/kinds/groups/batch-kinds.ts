import type { ResourceKind } from "../../ports/resource-kind.ts";
import { CRON_JOBS } from "./cron-job.ts";
import { JOBS } from "./job.ts";

/** Work that ends: stored, and left to whoever runs its controllers. */
export const BATCH_KINDS: readonly ResourceKind[] = [CRON_JOBS, JOBS];
