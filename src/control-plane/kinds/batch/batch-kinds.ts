import type { ResourceKind } from "../../ports/resource-kind.ts";
import { cronJobKind } from "./cron-job.ts";
import { jobKind } from "./job.ts";

/** Work that ends: stored, and left to whoever runs its controllers. */
export const BATCH_KINDS: readonly ResourceKind[] = [cronJobKind, jobKind];
