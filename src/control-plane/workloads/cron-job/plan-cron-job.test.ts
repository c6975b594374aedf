import { describe, expect, test } from "vitest";
import type { CronJob, CronJobSpec, CronJobStatus, Job } from "../../../api/gen/types.ts";
import { MINUTE } from "../../../base/clock.ts";
import { planCronJob, SCHEDULED_ANNOTATION } from "./plan-cron-job.ts";

const CREATED = "2026-01-01T00:00:00Z";

function cronJob(spec: Partial<CronJobSpec> = {}, status: CronJobStatus = {}): CronJob {
  const jobTemplate = { spec: { template: {} } };
  return {
    metadata: { name: "tick", namespace: "a", creationTimestamp: CREATED },
    spec: { schedule: "0 * * * *", concurrencyPolicy: "Allow", suspend: false, jobTemplate, ...spec },
    status,
  };
}

function job(name: string, condition?: "Complete" | "Failed", startTime = CREATED): Job {
  return {
    metadata: { name, uid: `uid-of-${name}` },
    status: {
      startTime,
      ...(condition && { conditions: [{ type: condition, status: "True" }] }),
      ...(condition === "Complete" && { completionTime: startTime }),
    },
  };
}

const reference = (name: string) => ({ kind: "Job", name, uid: `uid-of-${name}` });
const planAt = (time: string, subject: CronJob, options: { jobs?: readonly Job[]; notBefore?: number } = {}) => {
  const { jobs = [], notBefore = 0 } = options;
  return planCronJob(subject, jobs, { now: Date.parse(time), notBefore });
};

describe("a job that a crash has left out of the status", () => {
  const left = (condition?: "Complete"): Job => {
    const { metadata, status } = job("tick-29453820", condition);
    return {
      metadata: { ...metadata, annotations: { [SCHEDULED_ANNOTATION]: "2026-01-01T02:00:00+01:00" } },
      ...(status && { status }),
    };
  };
  const subject = (concurrencyPolicy: string) => cronJob({ concurrencyPolicy, successfulJobsHistoryLimit: 0 });

  test("runs alone, and is told as one that runs", () => {
    const { start, status, news } = planAt("2026-01-01T02:00:00Z", subject("Forbid"), { jobs: [left()] });
    expect(start).toBeUndefined();
    expect(status).toMatchObject({ active: [{ name: "tick-29453820" }], lastScheduleTime: "2026-01-01T01:00:00Z" });
    expect(news.map(({ reason }) => reason)).toEqual(["JobAlreadyActive"]);
  });

  test("is replaced by the next", () => {
    const { start } = planAt("2026-01-01T02:00:00Z", subject("Replace"), { jobs: [left()] });
    expect(start?.replaces).toMatchObject([{ name: "tick-29453820", uid: "uid-of-tick-29453820" }]);
  });

  test("is not made again after it has ended and is forgotten", () => {
    const { start, forget } = planAt("2026-01-01T01:00:30Z", subject("Forbid"), { jobs: [left("Complete")] });
    expect(forget).toHaveLength(1);
    expect(start).toBeUndefined();
  });

  test("is none where it is being deleted", () => {
    const { metadata, status = {} } = left();
    const leaving = { metadata: { ...metadata, deletionTimestamp: "2026-01-01T01:30:00Z" }, status };
    expect(planAt("2026-01-01T02:00:00Z", subject("Forbid"), { jobs: [leaving] }).start?.name).toBe("tick-29453880");
  });
});

describe("a clock that was a day ahead and was set right", () => {
  const NOW = "2026-01-01T02:10:00Z";
  const AHEAD = "2026-01-02T02:00:00Z";
  const startAfter = (subject: CronJob, options: Parameters<typeof planAt>[2] = {}) => {
    const { status, start, waitMs } = planAt(NOW, subject, options);
    expect(start).toBeUndefined();
    expect(waitMs).toBeLessThanOrEqual(50 * MINUTE + 1_000);
    return planAt("2026-01-01T03:00:00Z", { ...subject, status }, options).start?.name;
  };

  test("keeps no cron job from its next time", () => {
    expect(startAfter(cronJob({}, { lastScheduleTime: AHEAD }))).toBe("tick-29453940");
    expect(planAt(NOW, cronJob({}, { lastScheduleTime: AHEAD })).status.lastScheduleTime).toBe(NOW);
  });

  test("nor by its jobs, its creation or a change of its schedule", () => {
    const { metadata, status = {} } = job("tick-29455320", "Complete");
    const ahead = { metadata: { ...metadata, annotations: { [SCHEDULED_ANNOTATION]: AHEAD } }, status };
    expect(startAfter(cronJob({}, { lastScheduleTime: AHEAD }), { jobs: [ahead] })).toBe("tick-29453940");
    expect(startAfter({ ...cronJob(), metadata: { name: "tick", creationTimestamp: AHEAD } })).toBe("tick-29453940");
    const served = cronJob({}, { lastScheduleTime: "2026-01-01T02:00:00Z" });
    expect(startAfter(served, { notBefore: Date.parse(AHEAD) })).toBe("tick-29453940");
  });

  test("is waited for where it was set back by seconds", () => {
    const served = cronJob({}, { lastScheduleTime: "2026-01-01T03:00:00Z" });
    const { start, status } = planAt("2026-01-01T02:59:58Z", served);
    expect([start, status.lastScheduleTime]).toEqual([undefined, "2026-01-01T03:00:00Z"]);
    expect(planAt("2026-01-01T03:00:00Z", { ...served, status }).start).toBeUndefined();
  });
});

describe("a cron job starts", () => {
  test.each<[string, string, CronJob, string | undefined]>([
    ["nothing before it is due", "2026-01-01T00:59:59Z", cronJob(), undefined],
    ["what is due", "2026-01-01T01:00:00Z", cronJob(), "2026-01-01T01:00:00Z"],
    ["only the last of what it missed", "2026-01-01T05:10:00Z", cronJob(), "2026-01-01T05:00:00Z"],
    ["nothing twice", "2026-01-01T05:10:00Z", cronJob({}, { lastScheduleTime: "2026-01-01T05:00:00Z" }), undefined],
    ["nothing while it is suspended", "2026-01-01T05:10:00Z", cronJob({ suspend: true }), undefined],
    ["nothing too late", "2026-01-01T05:10:00Z", cronJob({ startingDeadlineSeconds: 300 }), undefined],
    ["what is late enough", "2026-01-01T05:04:00Z", cronJob({ startingDeadlineSeconds: 300 }), "2026-01-01T05:00:00Z"],
    [
      "by its zone",
      "2026-01-01T23:30:00Z",
      cronJob({ schedule: "0 0 * * *", timeZone: "Europe/Vienna" }),
      "2026-01-02T00:00:00+01:00",
    ],
    ["nothing that is never due", "2027-01-01T00:00:00Z", cronJob({ schedule: "0 0 31 2 *" }), undefined],
    ["no job of a zone that nobody knows", "2027-01-01T00:00:00Z", cronJob({ timeZone: "Middle/Earth" }), undefined],
  ])("%s", (_case, now, subject, due) => {
    expect(planAt(now, subject).start?.dueText).toBe(due);
  });

  test("nothing that was due before its schedule was changed", () => {
    const notBefore = Date.parse("2026-01-01T05:10:00Z");
    expect(planAt("2026-01-01T05:10:00Z", cronJob(), { notBefore })).toMatchObject({
      start: undefined,
      waitMs: 50 * MINUTE + 100,
    });
  });

  test("jobs that are named after the minute", () => {
    expect(planAt("2026-01-01T01:00:00Z", cronJob())).toMatchObject({
      start: { name: "tick-29453820", replaces: [] },
      waitMs: 60 * MINUTE + 100,
    });
  });

  test("and tells when it has missed more than a hundred", () => {
    const news = planAt("2026-01-08T00:00:00Z", cronJob()).news.map(({ reason }) => reason);
    expect(news).toEqual(["TooManyMissedTimes"]);
  });

  test("soon, however far behind a wrong clock has left it", () => {
    const subject = cronJob({ schedule: "@every 1s" }, { lastScheduleTime: "1970-01-01T00:00:00Z" });
    expect(planAt("2026-01-01T00:00:00Z", subject).start?.dueText).toBe("2026-01-01T00:00:00Z");
  });
});

describe("beside a job that runs", () => {
  const active = [reference("tick-1")];
  const jobs = [job("tick-1")];
  test.each<[string, boolean, number, string[]]>([
    ["Allow", true, 0, []],
    ["Forbid", false, 0, ["JobAlreadyActive"]],
    ["Replace", true, 1, []],
  ])("the policy %s starts another: %s", (concurrencyPolicy, starts, replaced, reasons) => {
    const plan = planAt("2026-01-01T01:00:00Z", cronJob({ concurrencyPolicy }, { active }), { jobs });
    expect(plan.start !== undefined).toBe(starts);
    expect(plan.start?.replaces ?? []).toHaveLength(replaced);
    expect(plan.news.map(({ reason }) => reason)).toEqual(reasons);
  });
});

describe("of its jobs it", () => {
  test("lists those that run", () => {
    const active = ["gone", "done", "runs"].map(reference);
    const jobs = [job("done", "Complete"), job("runs"), job("unknown")];
    const { status, news } = planAt(CREATED, cronJob({}, { active }), { jobs });
    expect(status).toEqual({ active: [reference("runs")], lastSuccessfulTime: CREATED });
    expect(news.map(({ message }) => message)).toEqual([
      "Saw a job that the controller did not create or forgot: unknown",
      "Active job went missing: gone",
      "Saw completed job: done, condition: Complete",
    ]);
  });

  test("keeps the last ones of each kind", () => {
    const jobs = [
      job("c3", "Complete", "2026-01-01T03:00:00Z"),
      job("c1", "Complete", "2026-01-01T01:00:00Z"),
      job("c2", "Complete", "2026-01-01T02:00:00Z"),
      job("f1", "Failed", "2026-01-01T01:30:00Z"),
      job("f2", "Failed", "2026-01-01T02:30:00Z"),
      job("runs"),
    ];
    const limits = { successfulJobsHistoryLimit: 2, failedJobsHistoryLimit: 0 };
    const { forget } = planAt(CREATED, cronJob(limits), { jobs });
    expect(forget.map(({ metadata }) => metadata?.name)).toEqual(["c1", "f1", "f2"]);
    expect(planAt(CREATED, cronJob(), { jobs }).forget).toEqual([]);
  });
});
