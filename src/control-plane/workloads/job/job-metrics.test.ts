import { expect, test } from "vitest";
import type { Job } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createJobMetrics } from "./job-metrics.ts";

test("syncs, pods and ends of jobs are counted by the mode of the job", async () => {
  const clock = createFakeClock();
  const metrics = createMetrics();
  const counted = createJobMetrics(clock, metrics);
  const indexed: Job = { spec: { completionMode: "Indexed", template: {} } };
  const plain: Job = { spec: { template: {} } };

  expect(await counted.sync(indexed, "pods_created", async () => await clock.advance(2_000))).toBeUndefined();
  await expect(
    counted.sync(plain, "tracking", async () => {
      await Promise.resolve();
      throw new Error("refused");
    }),
  ).rejects.toThrow("refused");
  counted.counted({ ...indexed, status: { succeeded: 1 } }, { ...indexed, status: { succeeded: 3, failed: 1 } });
  counted.finished(indexed, { type: "Complete", status: "True", reason: "CompletionsReached" });
  counted.finished(plain, { type: "Failed", status: "True", reason: "DeadlineExceeded" });

  const text = await metrics.render();
  for (const line of [
    'job_controller_job_syncs_total{completion_mode="Indexed",result="success",action="pods_created"} 1',
    'job_controller_job_syncs_total{completion_mode="NonIndexed",result="error",action="tracking"} 1',
    'job_controller_job_sync_duration_seconds_sum{completion_mode="Indexed",result="success",action="pods_created"} 2',
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
    'job_controller_job_pods_finished_total{completion_mode="Indexed",result="failed"} 1',
    'job_controller_jobs_finished_total{completion_mode="Indexed",result="succeeded",reason="CompletionsReached"} 1',
    'job_controller_jobs_finished_total{completion_mode="NonIndexed",result="failed",reason="DeadlineExceeded"} 1',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
