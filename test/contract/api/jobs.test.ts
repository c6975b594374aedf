import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace, pathsIn } from "./objects.ts";
import { reportPod, untilCount, untilObject, waitingTemplate } from "./workload-steps.ts";

const jobsIn = (namespace: string) => `/apis/batch/v1/namespaces/${namespace}/jobs`;
const job = (spec: object = {}) => ({
  metadata: { name: "work" },
  spec: { template: waitingTemplate({ app: "work" }, { restartPolicy: "Never" }), ...spec },
});
const OF_JOB = "batch.kubernetes.io/job-name=work";
const statusOf = (object: KubeObject) => Object(object["status"]);
const says = (type: string) => (object: KubeObject) =>
  (statusOf(object).conditions ?? []).some((condition: object) => {
    return Object(condition).type === type && Object(condition).status === "True";
  });

// Beside kube-apiserver alone there is no controller of jobs.
describe.each(apiServersUnderTest().filter(({ isOurs }) => isOurs))("jobs, on $name", (candidate) => {
  const server = useApiServer(candidate);

  it("count their pods before they let them go, and are complete then", async () => {
    const namespace = await newNamespace(server.admin);
    await server.admin.object("POST", jobsIn(namespace), job({ parallelism: 2, completions: 2 }));
    const pods = await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector: OF_JOB, count: 2 });
    for (const pod of pods) {
      expect(pod.metadata).toMatchObject({
        name: expect.stringMatching(/^work-.{5}$/),
        labels: { app: "work", "job-name": "work" },
        finalizers: ["batch.kubernetes.io/job-tracking"],
        ownerReferences: [{ kind: "Job", name: "work", controller: true }],
      });
      await reportPod(server.admin, pod, { phase: "Succeeded" });
    }
    const done = await untilObject(server.admin, `${jobsIn(namespace)}/work`, says("Complete"));
    expect(statusOf(done)).toMatchObject({
      succeeded: 2,
      ready: 0,
      startTime: expect.any(String),
      completionTime: expect.any(String),
      uncountedTerminatedPods: {},
    });
    const kept = await server.admin.list(pathsIn(namespace).pods, { labelSelector: OF_JOB });
    expect(kept.items.map(({ metadata }) => metadata.finalizers)).toEqual([undefined, undefined]);
  });

  it("with indexes fail by their policy and take their other pods along", async () => {
    const namespace = await newNamespace(server.admin);
    const podFailurePolicy = { rules: [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }] };
    const indexed = { completionMode: "Indexed", completions: 3, parallelism: 3, podFailurePolicy };
    await server.admin.object("POST", jobsIn(namespace), job(indexed));
    const pods = await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector: OF_JOB, count: 3 });
    expect(pods.map(({ spec }) => Object(spec).hostname).sort()).toEqual(["work-0", "work-1", "work-2"]);
    const [first] = pods;
    if (first === undefined) throw new Error("the job has no pods");
    const container = { name: "main", image: "i", imageID: "", ready: false, restartCount: 0 };
    const terminated = { exitCode: 42, finishedAt: "2026-01-01T00:00:00Z" };
    await reportPod(server.admin, first, {
      phase: "Failed",
      containerStatuses: [{ ...container, state: { terminated } }],
    });
    const failed = await untilObject(server.admin, `${jobsIn(namespace)}/work`, says("Failed"));
    expect(statusOf(failed).conditions).toMatchObject([
      { type: "FailureTarget", reason: "PodFailurePolicy" },
      { type: "Failed", reason: "PodFailurePolicy", message: expect.stringContaining("exit code 42 matching FailJob") },
    ]);
    await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector: OF_JOB, count: 1 });
  });

  it("that are deleted leave no pod behind, although they kept them", async () => {
    const namespace = await newNamespace(server.admin);
    await server.admin.object("POST", jobsIn(namespace), job());
    await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector: OF_JOB, count: 1 });
    await server.admin.object("DELETE", `${jobsIn(namespace)}/work`, { propagationPolicy: "Background" });
    await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector: OF_JOB, count: 0 });
  });

  it("are made by cron jobs when they are due, and deleted when their time is over", async () => {
    const namespace = await newNamespace(server.admin);
    const cronJobs = `/apis/batch/v1/namespaces/${namespace}/cronjobs`;
    const jobTemplate = { spec: { ...job().spec, ttlSecondsAfterFinished: 0 } };
    const spec = { schedule: "@every 1s", concurrencyPolicy: "Forbid", jobTemplate };
    await server.admin.object("POST", cronJobs, { metadata: { name: "tick" }, spec });
    const started = await untilObject(server.admin, `${cronJobs}/tick`, (object) => {
      return statusOf(object).active?.length === 1;
    });
    const [{ name }] = statusOf(started).active;
    expect(name).toMatch(/^tick-\d{8,}$/);
    expect(await server.admin.object("GET", `${jobsIn(namespace)}/${name}`)).toMatchObject({
      metadata: {
        annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": statusOf(started).lastScheduleTime },
        ownerReferences: [{ kind: "CronJob", name: "tick", controller: true, blockOwnerDeletion: true }],
      },
    });
    await server.admin.patch("merge", `${cronJobs}/tick`, { spec: { suspend: true } });
    const labelSelector = `batch.kubernetes.io/job-name=${name}`;
    const [pod] = await untilCount(server.admin, pathsIn(namespace).pods, { labelSelector, count: 1 });
    if (pod === undefined) throw new Error("the job has no pod");
    await reportPod(server.admin, pod, { phase: "Succeeded" });
    await untilCount(server.admin, jobsIn(namespace), { labelSelector, count: 0 });
    const ended = await untilObject(server.admin, `${cronJobs}/tick`, (object) => {
      return statusOf(object).active === undefined;
    });
    expect(statusOf(ended).lastSuccessfulTime).toEqual(expect.any(String));
  });
});
