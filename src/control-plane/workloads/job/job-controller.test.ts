import { describe, expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import type { JobSpec, JobStatus, PodStatus } from "../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../api/object.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createJobController } from "./job-controller.ts";
import { INDEX_ANNOTATION, INDEX_FAILURES_ANNOTATION, isTracked, TRACKING_FINALIZER } from "./job-pods.ts";
import { createJobOrphanController } from "./orphan-pods.ts";

const JOB = { resource: "jobs.batch", namespace: "a", name: "work" };
const LABELS = { "batch.kubernetes.io/controller-uid": "job-uid" };

/** The job as the API server stores it. */
function jobOf(spec: Partial<JobSpec> = {}): KubeObject {
  const template = {
    metadata: { labels: LABELS },
    spec: { containers: [{ name: "c", image: "i" }], restartPolicy: "Never" },
  };
  const defaults = { parallelism: 1, backoffLimit: 6, completionMode: "NonIndexed", suspend: false };
  const isQueue = "parallelism" in spec && !("completions" in spec);
  return untyped({
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "work", namespace: "a", uid: "job-uid" },
    spec: { ...defaults, ...(!isQueue && { completions: 1 }), selector: { matchLabels: LABELS }, template, ...spec },
    status: {},
  });
}

async function setUp(spec: Partial<JobSpec> = {}) {
  const bench = createControllerBench();
  const { reader, writer, clock } = bench;
  bench.start(createJobController(bench.deps));
  bench.start(createJobOrphanController(bench.deps));
  await bench.create("jobs.batch", jobOf(spec));
  await clock.settle();
  const job = () => typed("Job", reader.get(JOB) ?? jobOf());
  const pods = () => reader.list("pods", "a").map((pod) => typed("Pod", pod));
  const active = () => pods().filter(({ status }) => (status?.phase ?? "Pending") === "Pending");
  return Object.assign(bench, {
    job,
    pods,
    active,
    status: (): JobStatus => job().status ?? {},
    /** Every condition that holds, with its reason. */
    conditions: () =>
      (job().status?.conditions ?? [])
        .filter(({ status }) => status === "True")
        .map(({ type, reason }) => `${type} ${reason}`),
    /** What the pods' node does: the first pod that runs, or the one with this index, ends. */
    async end(phase: "Succeeded" | "Failed", { index, exitCode = 1 }: { index?: number; exitCode?: number } = {}) {
      const pod = active().find(({ metadata }) => {
        return index === undefined || metadata?.annotations?.[INDEX_ANNOTATION] === `${index}`;
      });
      if (pod === undefined) throw new Error(`no pod runs that could be ${phase}`);
      const finishedAt = new Date(clock.now()).toISOString();
      const terminated = { exitCode: phase === "Failed" ? exitCode : 0, finishedAt };
      const container = { name: "c", image: "i", imageID: "", ready: false, restartCount: 0, state: { terminated } };
      const status: PodStatus = { phase, containerStatuses: [container] };
      await writer.update("pods", untyped({ ...pod, status }), "status");
      await clock.settle();
    },
    async change(changes: Partial<JobSpec>) {
      const { status: _status, spec, ...rest } = job();
      await writer.update("jobs.batch", untyped({ ...rest, spec: { template: {}, ...spec, ...changes } }));
      await clock.settle();
    },
    eventReasons: () => reader.list("events", "a").map((event) => event["reason"]),
  });
}

describe("a job", () => {
  test("runs a pod until it succeeds, and says so", async () => {
    const { pods, status, end, conditions, eventReasons } = await setUp();
    expect(pods()).toMatchObject([
      { metadata: { generateName: "work-", labels: LABELS, finalizers: [TRACKING_FINALIZER] } },
    ]);
    expect(status()).toMatchObject({ active: 1, ready: 0, terminating: 0, startTime: "2026-01-01T00:00:00Z" });
    await end("Succeeded");
    expect(conditions()).toEqual(["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
    expect(status()).toEqual({
      conditions: expect.anything(),
      startTime: "2026-01-01T00:00:00Z",
      completionTime: "2026-01-01T00:00:00Z",
      succeeded: 1,
      ready: 0,
      terminating: 0,
      uncountedTerminatedPods: {},
    });
    expect(pods().map(isTracked)).toEqual([false]);
    expect(eventReasons()).toEqual(["SuccessfulCreate", "Completed"]);
  });

  test("runs as many pods at a time as it may, and no more than are left to do", async () => {
    const { active, end, status, conditions } = await setUp({ parallelism: 2, completions: 3 });
    expect(active()).toHaveLength(2);
    await end("Succeeded");
    expect(active()).toHaveLength(2);
    await end("Succeeded");
    expect(active()).toHaveLength(1);
    await end("Succeeded");
    expect(status().succeeded).toBe(3);
    expect(conditions()).toContain("Complete CompletionsReached");
  });

  test("that is a queue of work ends when one pod has succeeded and the others have ended", async () => {
    const { active, end, conditions, status } = await setUp({ parallelism: 3 });
    await end("Succeeded");
    await end("Succeeded");
    expect([active().length, conditions()]).toEqual([1, []]);
    await end("Failed");
    expect(conditions()).toContain("Complete CompletionsReached");
    expect(status()).toMatchObject({ succeeded: 2, failed: 1 });
  });

  test("replaces a failed pod after its time, also when the clock is set back meanwhile", async () => {
    const { active, end, clock } = await setUp({ backoffLimit: 2 });
    await end("Failed");
    await clock.advance(4_000);
    clock.jumpWallClock(-3_600_000);
    await clock.advance(5_000);
    expect(active()).toEqual([]);
    await clock.advance(1_000);
    expect(active()).toHaveLength(1);
  });

  test("replaces a failed pod after 10 s, then 20 s, and gives up at its limit", async () => {
    const { active, end, clock, conditions, status, eventReasons } = await setUp({ backoffLimit: 2 });
    await end("Failed");
    await clock.advance(9_000);
    expect(active()).toEqual([]);
    await clock.advance(1_000);
    expect(active()).toHaveLength(1);
    await end("Failed");
    await clock.advance(19_000);
    expect(active()).toEqual([]);
    await clock.advance(1_000);
    await end("Failed");
    expect(conditions()).toEqual(["FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"]);
    expect(status()).toMatchObject({ failed: 3 });
    expect(eventReasons()).toContain("BackoffLimitExceeded");
    await clock.advance(600_000);
    expect(active()).toEqual([]);
  });

  test("is ended by its deadline, with the pods that still run", async () => {
    const { active, pods, clock, conditions, status } = await setUp({ activeDeadlineSeconds: 60 });
    await clock.advance(59_000);
    expect(active()).toHaveLength(1);
    await clock.advance(1_000);
    expect(pods()).toEqual([]);
    expect(conditions()).toEqual(["FailureTarget DeadlineExceeded", "Failed DeadlineExceeded"]);
    expect(status().failed).toBe(1);
  });

  test("that is suspended has no pods, and its time begins anew when it is resumed", async () => {
    const { change, active, status, conditions, clock, eventReasons } = await setUp({ activeDeadlineSeconds: 60 });
    await clock.advance(30_000);
    await change({ suspend: true });
    expect(active()).toEqual([]);
    expect(conditions()).toEqual(["Suspended JobSuspended"]);
    expect(status()).not.toHaveProperty("startTime");
    expect(status()).not.toHaveProperty("failed");
    await clock.advance(120_000);
    await change({ suspend: false });
    expect(active()).toHaveLength(1);
    expect(status().startTime).toBe("2026-01-01T00:02:30Z");
    expect(status().conditions).toMatchObject([{ type: "Suspended", status: "False", reason: "JobResumed" }]);
    expect(eventReasons()).toEqual(expect.arrayContaining(["Suspended", "Resumed"]));
  });

  test("of another controller is left alone", async () => {
    const { pods, status } = await setUp({ managedBy: "example.com/queue" });
    expect([pods(), status()]).toEqual([[], {}]);
  });

  test("with less parallelism deletes pods that nobody counts", async () => {
    const { change, active, status, pods } = await setUp({ parallelism: 3, completions: 5 });
    await change({ parallelism: 1 });
    expect([active().length, pods().length]).toEqual([1, 1]);
    expect(status()).not.toHaveProperty("failed");
    expect(status().active).toBe(1);
  });
});

describe("an indexed job", () => {
  const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3 } as const;

  test("gives each pod its index in every form", async () => {
    const { pods } = await setUp(indexed);
    const third = pods().find(({ metadata }) => metadata?.annotations?.[INDEX_ANNOTATION] === "2");
    expect(third).toMatchObject({
      metadata: { generateName: "work-2-", labels: { ...LABELS, [INDEX_ANNOTATION]: "2" } },
      spec: {
        hostname: "work-2",
        containers: [
          {
            env: [
              {
                name: "JOB_COMPLETION_INDEX",
                valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` } },
              },
            ],
          },
        ],
      },
    });
  });

  test("has done what it lists, and repeats the index that failed", async () => {
    const { end, status, active, clock, conditions } = await setUp(indexed);
    await end("Succeeded", { index: 0 });
    await end("Failed", { index: 1 });
    await end("Succeeded", { index: 2 });
    expect(status()).toMatchObject({ succeeded: 2, failed: 1, completedIndexes: "0,2" });
    await clock.advance(10_000);
    expect(active().map(({ metadata }) => metadata?.annotations?.[INDEX_ANNOTATION])).toEqual(["1"]);
    await end("Succeeded", { index: 1 });
    expect(status()).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
    expect(conditions()).toContain("Complete CompletionsReached");
  });

  test("counts failures of each index by itself", async () => {
    const { end, status, active, clock, conditions } = await setUp({
      ...indexed,
      backoffLimit: 2 ** 31 - 1,
      backoffLimitPerIndex: 1,
    });
    await end("Failed", { index: 1 });
    expect(status().failedIndexes).toBe("");
    await clock.advance(10_000);
    const successor = active().find(({ metadata }) => metadata?.annotations?.[INDEX_ANNOTATION] === "1");
    expect(successor?.metadata?.annotations?.[INDEX_FAILURES_ANNOTATION]).toBe("1");
    await end("Failed", { index: 1 });
    expect(status()).toMatchObject({ failed: 2, failedIndexes: "1" });
    await clock.advance(600_000);
    expect(active()).toHaveLength(2);
    await end("Succeeded", { index: 0 });
    await end("Succeeded", { index: 2 });
    expect(conditions()).toEqual(["FailureTarget FailedIndexes", "Failed FailedIndexes"]);
    expect(status()).toMatchObject({ succeeded: 2, failed: 2, completedIndexes: "0,2", failedIndexes: "1" });
  });

  test("fails when more indexes have failed than may", async () => {
    const { end, conditions, pods } = await setUp({ ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0 });
    await end("Failed", { index: 2 });
    expect(conditions()).toEqual(["FailureTarget MaxFailedIndexesExceeded", "Failed MaxFailedIndexesExceeded"]);
    expect(pods()).toHaveLength(1);
  });

  test("has succeeded as soon as its policy says so, and needs its other pods no more", async () => {
    const successPolicy = { rules: [{ succeededIndexes: "1-2", succeededCount: 1 }] };
    const { end, conditions, pods, status } = await setUp({ ...indexed, successPolicy });
    await end("Succeeded", { index: 0 });
    expect(conditions()).toEqual([]);
    await end("Succeeded", { index: 1 });
    expect(conditions()).toEqual(["SuccessCriteriaMet SuccessPolicy", "Complete SuccessPolicy"]);
    expect(pods()).toHaveLength(2);
    expect(status()).toMatchObject({ succeeded: 2, completedIndexes: "0,1" });
    // The pod that is not needed any more has been deleted, and has failed by that.
    expect(status().failed).toBe(1);
  });

  test("grows and shrinks with its parallelism", async () => {
    const { change, active, end, status } = await setUp(indexed);
    await end("Succeeded", { index: 2 });
    await change({ completions: 2, parallelism: 2 });
    expect(status()).not.toHaveProperty("completedIndexes");
    expect(active()).toHaveLength(2);
    await change({ completions: 4, parallelism: 4 });
    expect(active().map(({ metadata }) => metadata?.annotations?.[INDEX_ANNOTATION])).toHaveLength(4);
  });
});

describe("a failure policy", () => {
  const rule = (action: string, values: number[]) => ({ action, onExitCodes: { operator: "In", values } });
  const podFailurePolicy = { rules: [rule("FailJob", [42]), rule("Ignore", [7])] };

  test("fails the job at once", async () => {
    const { end, conditions, job, pods } = await setUp({ podFailurePolicy, parallelism: 2, completions: 2 });
    const name = pods()[0]?.metadata?.name;
    await end("Failed", { exitCode: 42 });
    expect(conditions()).toEqual(["FailureTarget PodFailurePolicy", "Failed PodFailurePolicy"]);
    expect(job().status?.conditions?.[0]?.message).toBe(
      `Container c for pod a/${name} failed with exit code 42 matching FailJob rule at index 0`,
    );
  });

  test("does not count what it ignores", async () => {
    const { end, conditions, status, active, clock, pods } = await setUp({ podFailurePolicy, backoffLimit: 0 });
    await end("Failed", { exitCode: 7 });
    await clock.advance(10_000);
    expect([conditions(), active().length]).toEqual([[], 1]);
    expect(status()).not.toHaveProperty("failed");
    await end("Succeeded");
    expect(conditions()).toContain("Complete CompletionsReached");
    expect(pods().filter(isTracked)).toEqual([]);
  });
});

describe("the books of a job", () => {
  test("lose no pod and count none twice when writes fail in between", async () => {
    const bench = await setUp({ parallelism: 4, completions: 12, backoffLimit: 50 });
    let turn = 0;
    // Every third write is refused, whatever it is.
    bench.refuse = ({ resource }) => {
      turn += 1;
      return resource !== "events" && turn % 3 === 0 ? new ApiError("InternalError", "no") : undefined;
    };
    for (let round = 0; round < 100 && bench.conditions().length < 2; round++) {
      const before = turn;
      if (bench.active().length > 0) {
        await bench.end(round % 4 === 0 ? "Failed" : "Succeeded").catch((error: unknown) => {
          if (turn === before) throw error;
        });
      }
      await bench.clock.advance(60_000);
    }
    const { succeeded, failed } = bench.status();
    const ended = (phase: string) => bench.pods().filter(({ status }) => status?.phase === phase).length;
    expect(bench.conditions()).toContain("Complete CompletionsReached");
    expect([succeeded, failed ?? 0]).toEqual([ended("Succeeded"), ended("Failed")]);
    expect(succeeded).toBe(12);
    expect(bench.pods().filter(isTracked)).toEqual([]);
  });

  test("go on where another controller left off", async () => {
    const bench = createControllerBench();
    const stored = jobOf({ parallelism: 1, completions: 2 });
    const pod = (name: string, finalizers: string[]): KubeObject => ({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: "a",
        uid: name,
        labels: LABELS,
        finalizers,
        ownerReferences: [{ apiVersion: "batch/v1", kind: "Job", name: "work", uid: "job-uid", controller: true }],
      },
      status: { phase: "Succeeded" },
    });
    await bench.create("pods", pod("counted", []));
    await bench.create("pods", pod("uncounted", [TRACKING_FINALIZER]));
    const uncountedTerminatedPods = { succeeded: ["counted", "uncounted"] };
    await bench.create("jobs.batch", { ...stored, status: { uncountedTerminatedPods } });
    bench.start(createJobController(bench.deps));
    await bench.clock.settle();
    expect(typed("Job", bench.reader.get(JOB) ?? stored).status).toMatchObject({
      succeeded: 2,
      uncountedTerminatedPods: {},
      completionTime: expect.anything(),
    });
  });

  test("are closed with the job: its pods can be deleted", async () => {
    const { writer, clock, pods } = await setUp({ parallelism: 2, completions: 2 });
    await writer.remove(JOB);
    await clock.settle();
    expect(pods().map(isTracked)).toEqual([false, false]);
  });
});
