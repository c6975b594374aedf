import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { CronJobSpec, JobSpec, JobStatus } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { cronJobKind } from "./cron-job.ts";
import { jobKind } from "./job.ts";

const UID = "6f1c9a52-5f0e-4f7a-9c53-2d1f0f6a7b11";
const template = { spec: { containers: [{ name: "c", image: "busybox:1.36" }], restartPolicy: "Never" } };

const show = (errors: Parameters<typeof formatFieldError>[0][] | undefined) => (errors ?? []).map(formatFieldError);
const job = (spec: Partial<JobSpec> = {}, name = "work"): KubeObject => {
  const metadata = { name, namespace: "default", uid: UID };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: { template, ...spec } };
};
const create = (object: KubeObject, { strategy } = jobKind) => {
  const defaulted = strategy.default?.(object) ?? object;
  return strategy.prepareCreate?.(defaulted) ?? defaulted;
};
const refusals = (object: KubeObject) => show(jobKind.strategy.validate?.(create(object)));
/** A stored job with a later status. */
const stored = (spec: Partial<JobSpec>, status = {}): KubeObject => ({ ...create(job(spec)), status });
const change = (current: KubeObject, next: KubeObject) => show(jobKind.strategy.validateUpdate?.(next, current));

describe("a new job", () => {
  it("runs one pod to completion unless its author says otherwise", () => {
    expect(create(job())).toMatchObject({
      spec: {
        parallelism: 1,
        completions: 1,
        backoffLimit: 6,
        completionMode: "NonIndexed",
        suspend: false,
        podReplacementPolicy: "TerminatingOrFailed",
        template: { spec: { terminationGracePeriodSeconds: 30, dnsPolicy: "ClusterFirst" } },
      },
      status: {},
    });
  });

  it.each<[string, Partial<JobSpec>, object]>([
    ["is a queue of work when only its parallelism is given", { parallelism: 3 }, { parallelism: 3 }],
    [
      "does not count failures over all where each index counts its own",
      { backoffLimitPerIndex: 1 },
      { backoffLimit: 2147483647 },
    ],
    [
      "replaces only what has failed when it has a failure policy",
      { podFailurePolicy: { rules: [] } },
      { podReplacementPolicy: "Failed" },
    ],
  ])("%s", (_name, spec, expected) => {
    const { spec: defaulted } = create(job(spec));
    expect(defaulted).toMatchObject(expected);
    if (spec.parallelism === undefined) expect(defaulted).toHaveProperty("completions", 1);
    else expect(defaulted).not.toHaveProperty("completions");
  });

  it("is selected by its UID, and its pods carry both spellings of the labels beside their own", () => {
    const { spec } = create(job({ template: { ...template, metadata: { labels: { app: "a" } } } }));
    expect(spec).toMatchObject({
      selector: { matchLabels: { "batch.kubernetes.io/controller-uid": UID } },
      template: {
        metadata: {
          labels: {
            app: "a",
            "controller-uid": UID,
            "job-name": "work",
            "batch.kubernetes.io/controller-uid": UID,
            "batch.kubernetes.io/job-name": "work",
          },
        },
      },
    });
  });

  it("keeps a selector of its own when that is asked for", () => {
    const selector = { matchLabels: { app: "a" } };
    const own = job({ manualSelector: true, selector, template: { ...template, metadata: { labels: { app: "a" } } } });
    expect(create(own)).toMatchObject({ spec: { selector, template: { metadata: { labels: { app: "a" } } } } });
    expect(refusals(own)).toEqual([]);
  });

  const indexed = { completionMode: "Indexed", completions: 3 };
  it.each<[string, Partial<JobSpec>, string[]]>([
    ["is fine", {}, []],
    [
      "must end",
      { template: { spec: { containers: template.spec.containers } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      "has no negative counts",
      { parallelism: -1 },
      ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"],
    ],
    [
      "may not call its pods another job's",
      { template: { ...template, metadata: { labels: { "job-name": "other" } } } },
      [expect.stringMatching(/^spec\.template\.metadata\.labels\[job-name\]: Invalid value: \{.*: must be 'work'$/)],
    ],
    [
      "needs a number of indexes",
      { completionMode: "Indexed", parallelism: 1 },
      ["spec.completions: Required value: when completion mode is Indexed"],
    ],
    [
      "has limits of an index only when it has indexes",
      { backoffLimitPerIndex: 1 },
      ["spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"],
    ],
    [
      "limits failed indexes only when they can fail",
      { ...indexed, maxFailedIndexes: 1 },
      ["spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"],
    ],
    [
      "does not restart containers that a failure policy is to judge",
      {
        podFailurePolicy: { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] },
        template: { spec: { ...template.spec, restartPolicy: "OnFailure" } },
      },
      [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [
      "succeeds by what can be counted",
      { ...indexed, successPolicy: { rules: [{ succeededIndexes: "0,2", succeededCount: 3 }] } },
      [
        "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)",
      ],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(refusals(job(spec))).toEqual(errors);
  });

  it("with indexes has a name that its pods' host names can begin with", () => {
    const name = "w".repeat(62);
    expect(refusals(job(indexed, name))).toEqual([
      `metadata.name: Invalid value: "${name}": will not able to create pod with invalid DNS label: ${name}-2`,
    ]);
    expect(refusals(job({}, name))).toEqual([]);
  });
});

describe("a job that is there", () => {
  it("keeps what its pods were made from, however a client spells nothing", () => {
    const current = stored({});
    const spelled = structuredClone(current);
    Object.assign(Object(spelled["spec"]).template.metadata, { annotations: {}, creationTimestamp: null });
    expect(change(current, spelled)).toEqual([]);
    const image = { ...template, spec: { ...template.spec, containers: [{ name: "c", image: "other" }] } };
    expect(change(current, stored({ template: image }))).toEqual([
      expect.stringMatching(/^spec\.template: Invalid value: .*: field is immutable$/),
    ]);
  });

  it.each<[string, Partial<JobSpec>, Partial<JobSpec>, string[]]>([
    ["may run more pods at once", { completions: 9 }, { completions: 9, parallelism: 5 }, []],
    ["may be suspended", {}, { suspend: true }, []],
    [
      "ends after what it was to end after",
      {},
      { completions: 2 },
      ["spec.completions: Invalid value: 2: field is immutable"],
    ],
    [
      "with indexes grows with its parallelism",
      { completionMode: "Indexed", completions: 3, parallelism: 3 },
      { completionMode: "Indexed", completions: 4, parallelism: 4 },
      [],
    ],
    [
      "with indexes does not grow alone",
      { completionMode: "Indexed", completions: 3, parallelism: 3 },
      { completionMode: "Indexed", completions: 4, parallelism: 3 },
      ["spec.completions: Invalid value: 4: can only be modified in tandem with spec.parallelism"],
    ],
  ])("%s", (_name, before, after, errors) => {
    expect(change(stored(before), stored(after))).toEqual(errors);
  });

  describe("may be told where its pods go and what they may use", () => {
    const [container] = template.spec.containers;
    const resources = { requests: { cpu: "2" } };
    const spec = {
      ...template.spec,
      nodeSelector: { pool: "a" },
      containers: [{ name: "c", ...container, resources }],
    };
    const placed = { suspend: true, template: { spec } };
    const startTime = "2026-01-01T00:00:00Z";
    const conditions = [{ type: "Suspended", status: "True" }];
    const refused = [expect.stringMatching(/^spec\.template: .*field is immutable$/)];

    it.each<[string, Partial<JobSpec>, JobStatus, unknown[]]>([
      ["while it waits for its first start", { suspend: true }, {}, []],
      ["while it is suspended", { suspend: true }, { startTime, conditions }, []],
      ["but not while it has pods", { suspend: true }, { startTime, conditions, active: 1 }, refused],
      ["but not before it is seen to be suspended", { suspend: true }, { startTime }, refused],
      ["but not while it runs", {}, {}, refused],
    ])("%s", (_name, before, status, errors) => {
      expect(change(stored(before, status), stored(placed))).toEqual(errors);
    });

    it("and the other way round, but not what they run", () => {
      expect(change(stored(placed), stored({ suspend: true }))).toEqual([]);
      const other = { ...spec, containers: [{ ...container, name: "c", image: "other", resources }] };
      expect(change(stored(placed), stored({ suspend: true, template: { spec: other } }))).toEqual([
        expect.stringMatching(/^spec\.template\.spec: .*field is immutable$/),
      ]);
    });
  });

  it("is selected by how many of its pods have succeeded", () => {
    const read = jobKind.strategy.fields?.["status.successful"];
    expect(read?.(stored({}, { succeeded: 2 }))).toBe("2");
    expect(read?.(stored({}))).toBe("0");
  });
});

const cronJob = (spec: Partial<CronJobSpec> = {}, name = "nightly"): KubeObject => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name, namespace: "default" },
  spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template } }, ...spec },
});
const cronRefusals = (object: KubeObject) => show(cronJobKind.strategy.validate?.(create(object, cronJobKind)));

describe("a cron job", () => {
  it("lets its jobs overlap, and keeps the last few, unless its author says otherwise", () => {
    const { spec } = create(cronJob(), cronJobKind);
    expect(spec).toMatchObject({
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
      jobTemplate: { spec: { template: { spec: { schedulerName: "default-scheduler" } } } },
    });
    // A job's own defaults are set when the job is created.
    expect(spec).not.toHaveProperty("jobTemplate.spec.backoffLimit");
  });

  it.each<[string, Partial<CronJobSpec>, string[]]>([
    ["is fine", { timeZone: "Europe/Vienna", schedule: "@hourly" }, []],
    ["has a schedule", { schedule: "" }, ["spec.schedule: Required value"]],
    [
      "has a schedule of five fields",
      { schedule: "* * *" },
      ['spec.schedule: Invalid value: "* * *": expected exactly 5 fields, found 3: [* * *]'],
    ],
    [
      "has its time zone in a field of its own",
      { schedule: "CRON_TZ=UTC 0 0 * * *" },
      [
        'spec.schedule: Invalid value: "CRON_TZ=UTC 0 0 * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      "has a time zone that there is",
      { timeZone: "Middle/Earth" },
      ['spec.timeZone: Invalid value: "Middle/Earth": unknown time zone Middle/Earth'],
    ],
    [
      "handles overlap in a way that is known",
      { concurrencyPolicy: "Queue" },
      ['spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      "leaves the selector to its jobs",
      { jobTemplate: { spec: { template, selector: {} } } },
      ["spec.jobTemplate.spec.selector: Invalid value: {}: `selector` will be auto-generated"],
    ],
    [
      "makes jobs that end",
      { jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Always" } } } } },
      ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
  ])("%s", (_name, spec, errors) => {
    expect(cronRefusals(cronJob(spec))).toEqual(errors);
  });

  it("has a name that leaves room for when a job was due, if it is new", () => {
    const long = cronJob({}, "n".repeat(53));
    expect(cronRefusals(long)).toEqual([
      `metadata.name: Invalid value: "${"n".repeat(53)}": must be no more than 52 characters`,
    ]);
    expect(cronRefusals({ ...long, metadata: { ...long.metadata, resourceVersion: "7" } })).toEqual([]);
  });
});
