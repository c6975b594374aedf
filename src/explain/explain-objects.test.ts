import { describe, expect, it } from "vitest";
import type {
  ContainerPort,
  CronJob,
  CronJobSpec,
  EndpointSlice,
  Event,
  Job,
  JobSpec,
  Pod,
  ServiceSpec,
} from "../api/gen/types.ts";
import { explainCronJob } from "./explain-cron-job.ts";
import { explainJob } from "./explain-job.ts";
import type { ObjectExplanation } from "./explain-object.ts";
import { type ClosedPort, explainService } from "./explain-service.ts";

const namespace = "shop";
const reasonsOf = ({ waits, ends }: ObjectExplanation) => [...waits, ...ends].map(({ reason }) => reason);
const wordsOf = ({ waits, ends }: ObjectExplanation) =>
  [...waits, ...ends].map(({ message, mend = "" }) => `${message} ${mend}`).join("\n");

interface PodFields {
  labels?: Record<string, string>;
  isReady?: boolean;
  ports?: ContainerPort[];
  uid?: string;
}

function podOf(name: string, fields: PodFields = {}): Pod {
  const { labels = { app: "web" }, isReady = true, ports = [{ containerPort: 8080 }], uid = "" } = fields;
  const conditions = [{ type: "Ready", status: isReady ? "True" : "False" }];
  const ownerReferences = uid === "" ? [] : [{ apiVersion: "batch/v1", kind: "Job", name: "j", uid }];
  return {
    metadata: { namespace, name, labels, ownerReferences },
    spec: { containers: [{ name: "main", ports: [...ports] }] },
    status: { phase: isReady ? "Running" : "Pending", conditions },
  };
}

const event = (reason: string, seconds: number, message = ""): Event => {
  const lastTimestamp = new Date(seconds * 1_000).toISOString();
  return { metadata: {}, involvedObject: {}, reason, message, lastTimestamp };
};

describe("a service", () => {
  const slice: EndpointSlice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] };
  const explained = (
    spec: ServiceSpec,
    pods: Pod[],
    { slices = [slice], closed = [] }: { slices?: EndpointSlice[]; closed?: ClosedPort[] } = {},
  ) => {
    const whole = { selector: { app: "web" }, ports: [{ port: 80, targetPort: 8080 }], ...spec };
    return explainService({ service: { metadata: { namespace, name: "web" }, spec: whole }, pods, slices, closed });
  };
  const none = { slices: [] };

  it("with ready pods waits for nothing", () => {
    expect(explained({}, [podOf("a")])).toMatchObject({ state: "has 1 endpoint", waits: [] });
    expect(explained({ type: "ExternalName", externalName: "example.org" }, [], none).waits).toEqual([]);
  });

  it("whose selector matches no pod names the nearest one, and what it has instead", () => {
    const found = explained(
      { selector: { app: "web", tier: "front" } },
      [podOf("a", { labels: { app: "wep" } }), podOf("b")],
      none,
    );
    expect(found.state).toBe("has no endpoints");
    expect(reasonsOf(found)).toEqual(["NoPods"]);
    expect(wordsOf(found)).toMatch(/labels app=web,tier=front.*Pod b comes nearest, with no label tier/s);
    expect(wordsOf(explained({}, [podOf("a", { labels: { app: "wep" } })], none))).toContain(
      "Pod a comes nearest, with app=wep",
    );
    expect(wordsOf(explained({}, [], none))).toContain("kubectl get pods -n shop --show-labels");
  });

  it("passes over pods that have ended or are going", () => {
    const ended = { ...podOf("a"), status: { phase: "Succeeded" } };
    const going = { ...podOf("b"), metadata: { ...podOf("b").metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(reasonsOf(explained({}, [ended, going], none))).toEqual(["NoPods"]);
  });

  it("tells of pods that are not ready, and whether all are", () => {
    const found = explained({}, [podOf("a", { isReady: false })], none);
    expect(wordsOf(found)).toMatch(/None of its 1 pods is ready: a\..*nodelet explain pod a -n shop/s);
    expect(wordsOf(explained({}, [podOf("a", { isReady: false }), podOf("b")]))).toContain(
      "1 of its 2 pods get nothing",
    );
    expect(explained({ publishNotReadyAddresses: true }, [podOf("a", { isReady: false })]).waits).toEqual([]);
  });

  it.each([
    ["PortNotFound", "http", /has that name: it has web/],
    ["PortNotDeclared", 8081, /declares only 8080.*perhaps 8080/s],
  ])("tells of a port that leads nowhere: %s", (reason, targetPort, words) => {
    const found = explained({ ports: [{ port: 80, targetPort }] }, [
      podOf("a", { ports: [{ containerPort: 8080, name: "web" }] }),
    ]);
    expect(reasonsOf(found)).toEqual([reason]);
    expect(wordsOf(found)).toMatch(words);
  });

  it("says nothing of ports that no pod declares, unless they refuse", () => {
    expect(explained({}, [podOf("a", { ports: [] })]).waits).toEqual([]);
    const found = explained({}, [podOf("a")], { slices: [slice], closed: [{ pod: "a", port: 8080 }] });
    expect(wordsOf(found)).toMatch(/Pod a refuses connections to the port 8080.*127\.0\.0\.1/s);
  });

  it("without a selector or slices says what makes endpoints", () => {
    expect(reasonsOf(explained({ selector: {} }, [], none))).toEqual(["NoSelector"]);
    expect(reasonsOf(explained({ selector: {} }, []))).toEqual([]);
    expect(reasonsOf(explained({}, [podOf("a")], none))).toEqual(["NoEndpointSlice"]);
  });
});

describe("a job", () => {
  const template = { spec: { containers: [] } };
  const explained = (
    spec: Partial<JobSpec>,
    status: Job["status"] = {},
    more: { pods?: Pod[]; events?: Event[] } = {},
  ) => {
    const job: Job = { metadata: { namespace, name: "j", uid: "u" }, spec: { template, ...spec }, status };
    return explainJob({ job, pods: [], events: [], ...more });
  };
  const failed = (reason: string) => ({ conditions: [{ type: "Failed", status: "True", reason, message: "m" }] });

  it.each([
    [
      "BackoffLimitExceeded",
      { backoffLimit: 2 },
      /raise backoffLimit \(2\).*made anew|raise backoffLimit \(2\).*make it anew/,
    ],
    ["DeadlineExceeded", { activeDeadlineSeconds: 30 }, /Raise activeDeadlineSeconds \(30\)/],
    ["PodFailurePolicy", {}, /A rule of podFailurePolicy/],
    ["Other", {}, /kubectl logs -n shop job\/j/],
  ])("that has failed by %s names the mend", (reason, spec, words) => {
    const found = explained(spec, failed(reason));
    expect(found.state).toBe("has failed (pods: 0 active, 0 succeeded, 0 failed)");
    expect(reasonsOf(found)).toEqual([reason]);
    expect(wordsOf(found)).toMatch(words);
  });

  it.each([
    ["Suspended", { suspend: true }, /kubectl patch job j -n shop/],
    ["NoParallelism", { parallelism: 0 }, /Raise spec.parallelism/],
    ["ManagedBy", { managedBy: "example.org/queue" }, /example\.org\/queue is to run it/],
    ["NoPods", {}, /job controller runs/],
  ])("that does not begin: %s", (reason, spec, words) => {
    expect(reasonsOf(explained(spec))).toEqual([reason]);
    expect(wordsOf(explained(spec))).toMatch(words);
  });

  it("whose pods a quota or the pod security refuses says so, until they are made", () => {
    const refusal = event("FailedCreate", 10, 'pods "j-1" is forbidden: exceeded quota: q');
    const found = explained({}, {}, { events: [event("SuccessfulCreate", 5), refusal] });
    expect(wordsOf(found)).toMatch(/cannot be made: .*exceeded quota.*kubectl describe quota -n shop/s);
    expect(reasonsOf(explained({}, {}, { events: [refusal, event("SuccessfulCreate", 20)] }))).toEqual(["NoPods"]);
    const insecure = event("FailedCreate", 10, 'pods "j-1" is forbidden: violates PodSecurity "restricted:latest": x');
    expect(wordsOf(explained({}, {}, { events: [insecure] }))).toContain("violates PodSecurity");
  });

  it("waits for what its own pods wait for, or for the next try", () => {
    const pod = podOf("j-1", { isReady: false, uid: "u" });
    expect(wordsOf(explained({}, { active: 1 }, { pods: [pod, podOf("x", { isReady: false })] }))).toMatch(
      /^Pod j-1: /,
    );
    expect(wordsOf(explained({ backoffLimit: 2 }, { failed: 1 }))).toContain("1 of 3 tries have failed");
  });

  it("that is complete waits for nothing", () => {
    const found = explained({}, { succeeded: 1, conditions: [{ type: "Complete", status: "True" }] });
    expect(found).toMatchObject({ state: "is complete (pods: 0 active, 1 succeeded, 0 failed)", waits: [], ends: [] });
  });
});

describe("a cron job", () => {
  const explained = (
    spec: Partial<CronJobSpec>,
    status: CronJob["status"] = { lastScheduleTime: "2026-01-01T00:00:00Z" },
    more: { jobs?: Job[]; events?: Event[] } = {},
  ) => {
    const whole = { schedule: "0 3 * * *", jobTemplate: { spec: { template: { spec: { containers: [] } } } }, ...spec };
    const cronJob = { metadata: { namespace, name: "c", uid: "u" }, spec: whole, status };
    return explainCronJob({ cronJob, jobs: [], events: [], ...more });
  };

  it.each([
    ["Suspended", { suspend: true }, /kubectl patch cronjob c -n shop/],
    ["UnparseableSchedule", { schedule: "0 3 * *" }, /expected exactly 5 fields/],
    ["UnknownTimeZone", { timeZone: "Mars/Base" }, /Europe\/Berlin/],
    ["ShortDeadline", { startingDeadlineSeconds: 5 }, /to 10 or more/],
  ])("that starts nothing: %s", (reason, spec, words) => {
    expect(reasonsOf(explained(spec))).toEqual([reason]);
    expect(wordsOf(explained(spec))).toMatch(words);
  });

  it("that was never scheduled says how to start one now", () => {
    expect(wordsOf(explained({ timeZone: "Europe/Berlin" }, {}))).toMatch(
      /0 3 \* \* \* in Europe\/Berlin.*create job --from=cronjob\/c c-now/s,
    );
    expect(explained({}).waits).toEqual([]);
  });

  it("tells of times that it missed, until one is kept", () => {
    const missed = event("MissSchedule", 10, "Missed scheduled time to start a job: x");
    const found = explained({ startingDeadlineSeconds: 60 }, undefined, { events: [missed] });
    expect(wordsOf(found)).toMatch(/Missed scheduled time.*Raise startingDeadlineSeconds \(60\)/s);
    expect(explained({}, undefined, { events: [missed, event("SuccessfulCreate", 20)] }).waits).toEqual([]);
  });

  it("tells of a job that keeps the next one away", () => {
    const status = { active: [{ name: "c-1" }], lastScheduleTime: "2026-01-01T00:00:00Z" };
    expect(wordsOf(explained({ concurrencyPolicy: "Forbid" }, status))).toMatch(
      /while c-1 runs.*nodelet explain job c-1 -n shop/s,
    );
    expect(explained({ concurrencyPolicy: "Allow" }, status).waits).toEqual([]);
  });

  it("tells of its newest job, where that failed", () => {
    const jobOf = (name: string, day: number, type: string): Job => ({
      metadata: {
        name,
        namespace,
        creationTimestamp: `2026-01-0${day}T00:00:00Z`,
        ownerReferences: [{ apiVersion: "batch/v1", kind: "CronJob", name: "c", uid: "u" }],
      },
      status: { conditions: [{ type, status: "True", reason: "BackoffLimitExceeded", message: "m" }] },
    });
    const failed = [jobOf("c-1", 1, "Complete"), jobOf("c-2", 2, "Failed")];
    expect(wordsOf(explained({}, undefined, { jobs: failed }))).toMatch(
      /Its last job c-2 has failed: m.*nodelet explain job c-2/s,
    );
    expect(explained({}, undefined, { jobs: [...failed, jobOf("c-3", 3, "Complete")] }).ends).toEqual([]);
  });
});
