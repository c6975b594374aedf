import type { ResourceKind } from "../../ports/resource-kind.ts";
import { cronJobKind } from "./cron-job.ts";
import { jobKind } from "./job.ts";

/** The kinds of work that ends. */
export const BATCH_KINDS: readonly ResourceKind[] = [cronJobKind, jobKind];
