import { expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { CronJobSpec } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import { formatTime, MINUTE, SECOND } from "../../../base/clock.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createCronJobController } from "./cron-job-controller.ts";

const CRON_JOBS = "cronjobs.batch";
const JOBS = "jobs.batch";
const DAY = 24 * 60 * MINUTE;

/** Jobs are complete as soon as they are made, unless the test says otherwise. */
async function setUp(spec: Partial<CronJobSpec>, { complete = true } = {}) {
  const bench = createControllerBench();
  const { reader, writer, clock, feed } = bench;
  const started: string[] = [];
  feed.follow(JOBS, ({ type, object }) => {
    if (type !== "ADDED") return;
    started.push(object.metadata.annotations?.["batch.kubernetes.io/cronjob-scheduled-timestamp"] ?? "");
    const at = formatTime(clock.now());
    const conditions = [{ type: "Complete", status: "True" }];
    const status = { conditions, startTime: at, completionTime: at };
    if (complete) void writer.update(JOBS, { ...object, status }, "status");
  });
  const metrics = createMetrics();
  bench.start(createCronJobController({ ...bench.deps, metrics }));
  const jobTemplate = { metadata: { labels: { app: "tick" } }, spec: { parallelism: 1, template: {} } };
  const limits = { successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 };
  const defaults = { schedule: "* * * * *", concurrencyPolicy: "Allow", suspend: false, jobTemplate, ...limits };
  await bench.create(
    CRON_JOBS,
    untyped({
      apiVersion: "batch/v1",
      kind: "CronJob",
      metadata: { name: "tick", namespace: "a" },
      spec: { ...defaults, ...spec },
    }),
  );
  await clock.settle();
  const stored = () => reader.get({ resource: CRON_JOBS, namespace: "a", name: "tick" });
  const cronJob = () => typed("CronJob", stored() ?? untyped({ kind: "CronJob" }));
  return Object.assign(bench, { started, cronJob, metrics });
}

test("a cron job of every minute makes 1440 jobs a day, each once, and keeps three", async () => {
  const { clock, started, names, cronJob } = await setUp({});
  await clock.advance(DAY + SECOND);
  expect(started).toHaveLength(1440);
  expect(new Set(started).size).toBe(1440);
  expect([started[0], started.at(-1)]).toEqual(["2026-01-01T00:01:00Z", "2026-01-02T00:00:00Z"]);
  expect(names(JOBS)).toEqual(["tick-29455198", "tick-29455199", "tick-29455200"]);
  expect(cronJob().status).toEqual({
    lastScheduleTime: "2026-01-02T00:00:00Z",
    lastSuccessfulTime: "2026-01-02T00:00:00Z",
  });
});

test("how late jobs are made is told", async () => {
  const { clock, metrics } = await setUp({});
  await clock.advance(2 * MINUTE);
  const series = "cronjob_controller_job_creation_skew_duration_seconds";
  expect(await metrics.render()).toContain(`${series}_bucket{le="1"} 2\n`);
});

test("a cron job of every second makes a job a minute, because of their names", async () => {
  const { clock, started } = await setUp({ schedule: "@every 1s", successfulJobsHistoryLimit: 1 });
  await clock.advance(10 * MINUTE);
  expect(started.length).toBeGreaterThanOrEqual(10);
  expect(started.length).toBeLessThanOrEqual(11);
});

test("a job is made of the template, owned and listed", async () => {
  const { clock, reader, cronJob } = await setUp({}, { complete: false });
  await clock.advance(MINUTE + SECOND);
  const [job] = reader.list(JOBS, "a");
  expect(job).toMatchObject({
    metadata: {
      name: "tick-29453761",
      labels: { app: "tick" },
      ownerReferences: [{ kind: "CronJob", name: "tick", controller: true, blockOwnerDeletion: true }],
    },
    spec: { parallelism: 1 },
  });
  expect(cronJob().status?.active).toEqual([
    {
      apiVersion: "batch/v1",
      kind: "Job",
      namespace: "a",
      name: "tick-29453761",
      uid: job?.metadata.uid,
      resourceVersion: expect.any(String),
    },
  ]);
});

test("the policy Replace ends the job that still runs", async () => {
  const { clock, names, cronJob } = await setUp({ concurrencyPolicy: "Replace" }, { complete: false });
  await clock.advance(3 * MINUTE + SECOND);
  expect(names(JOBS)).toEqual(["tick-29453763"]);
  expect(cronJob().status?.active?.map(({ name }) => name)).toEqual(["tick-29453763"]);
});

test("a webhook that keeps the old job with a conflict is told, and asked again", async () => {
  const bench = await setUp({ concurrencyPolicy: "Replace" }, { complete: false });
  await bench.clock.advance(MINUTE + SECOND);
  bench.refuse = ({ resource, verb }) => {
    return resource === JOBS && verb === "delete" ? new ApiError("Conflict", "not now") : undefined;
  };
  await bench.clock.advance(MINUTE);
  const told = bench.reader.list("events").map(({ reason, message }) => `${reason} ${message}`);
  expect(told).toContain("FailedDelete Deleted job: not now");
  expect(bench.names(JOBS)).toEqual(["tick-29453761"]);
  bench.refuse = () => undefined;
  await bench.clock.advance(MINUTE);
  expect(bench.names(JOBS)).not.toContain("tick-29453761");
});

test("what a crash cut off after the job was made is listed, and not made again", async () => {
  const bench = await setUp({}, { complete: false });
  bench.refuse = ({ resource, verb }) => {
    return resource === CRON_JOBS && verb === "update" ? new ApiError("InternalError", "no") : undefined;
  };
  await bench.clock.advance(MINUTE + 10 * SECOND);
  expect(bench.cronJob().status).toEqual({});
  bench.refuse = () => undefined;
  await bench.clock.advance(40 * SECOND);
  expect(bench.cronJob().status).toMatchObject({
    active: [{ name: "tick-29453761" }],
    lastScheduleTime: "2026-01-01T00:01:00Z",
  });
  expect(bench.names(JOBS)).toHaveLength(1);
});

test("a schedule that is changed starts nothing of before", async () => {
  const { clock, writer, cronJob, started } = await setUp({ schedule: "0 * * * *" });
  await clock.advance(30 * MINUTE);
  const { status: _status, spec, ...rest } = cronJob();
  const changed = { schedule: "*/20 * * * *", jobTemplate: spec?.jobTemplate ?? {} };
  await writer.update(CRON_JOBS, untyped({ ...rest, spec: { ...spec, ...changed } }));
  await clock.advance(9 * MINUTE);
  expect(started).toEqual([]);
  await clock.advance(2 * MINUTE);
  expect(started).toEqual(["2026-01-01T00:40:00Z"]);
});

test("a clock that is set forward is noticed within a minute", async () => {
  const { clock, started } = await setUp({ schedule: "0 0 * * *" });
  clock.jumpWallClock(30 * 60 * MINUTE);
  await clock.advance(MINUTE);
  expect(started).toEqual(["2026-01-02T00:00:00Z"]);
});
