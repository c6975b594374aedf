import type { Job, JobCondition } from "../../../api/gen/types.ts";
import type { Clock } from "../../../base/clock.ts";
import { createMetrics, type Metrics } from "../../../base/metrics.ts";

/** What a look at a job did. */
export type SyncAction = "tracking" | "pods_created" | "pods_deleted";

/** Counts what becomes of jobs. */
export interface JobMetrics {
  /** Times the work on a job. */
  sync<T>(job: Job, action: SyncAction, work: () => Promise<T>): Promise<T>;
  /** The status of a job was written. */
  counted(before: Job, after: Job): void;
  /** The job has ended. */
  finished(job: Job, condition: JobCondition): void;
}

/** Declares upstream's series of jobs (`pkg/controller/job/metrics`). Without a place for them, nobody counts. */
export function createJobMetrics(clock: Pick<Clock, "monotonic">, metrics: Metrics = createMetrics()): JobMetrics {
  const labels = ["completion_mode", "result", "action"] as const;
  const syncs = metrics.counter("job_controller_job_syncs_total", "The number of job syncs", labels);
  const durations = metrics.histogram("job_controller_job_sync_duration_seconds", "The time it took to sync a job", {
    labels,
    buckets: Array.from({ length: 15 }, (_, power) => 0.004 * 2 ** power),
  });
  const ends = metrics.counter("job_controller_jobs_finished_total", "The number of finished jobs", [
    "completion_mode",
    "result",
    "reason",
  ]);
  const pods = metrics.counter(
    "job_controller_job_pods_finished_total",
    "The number of finished Pods that are fully tracked",
    ["completion_mode", "result"],
  );
  return {
    async sync(job, action, work) {
      const since = clock.monotonic();
      const told = (result: string) => {
        const of = { completion_mode: modeOf(job), result, action };
        syncs.add(of);
        durations.observe((clock.monotonic() - since) / 1000, of);
      };
      try {
        const result = await work();
        told("success");
        return result;
      } catch (error) {
        told("error");
        throw error;
      }
    },
    counted(before, after) {
      for (const result of ["succeeded", "failed"] as const) {
        const more = (after.status?.[result] ?? 0) - (before.status?.[result] ?? 0);
        if (more > 0) pods.add({ completion_mode: modeOf(after), result }, more);
      }
    },
    finished(job, { type, reason = "" }) {
      ends.add({ completion_mode: modeOf(job), result: type === "Complete" ? "succeeded" : "failed", reason });
    },
  };
}

const modeOf = ({ spec }: Job) => spec?.completionMode ?? "NonIndexed";
