import { type KubeObject, typed } from "../../../api/object.ts";
import { parseTime, SECOND } from "../../../base/clock.ts";
import type { Controller, ControllerDeps } from "../../control-loop/controller.ts";
import { createExpiryController } from "../../controllers/expiry-controller.ts";
import { finishedConditionOf } from "./job-pods.ts";

/**
 * Deletes jobs, with their pods, `ttlSecondsAfterFinished` after they have ended (`pkg/controller/ttlafterfinished`).
 */
export function createTtlAfterFinished(deps: ControllerDeps): Controller {
  return createExpiryController(deps, {
    name: "ttl_jobs_to_delete",
    resource: "jobs.batch",
    expiresAt: jobDeadline,
    propagationPolicy: "Foreground",
  });
}

function jobDeadline(object: KubeObject): number | undefined {
  const job = typed("Job", object);
  const ttl = job.spec?.ttlSecondsAfterFinished;
  const ended = parseTime(finishedConditionOf(job)?.lastTransitionTime);
  if (ttl === undefined || ended === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
  return ended + ttl * SECOND;
}
