import { expect, test } from "vitest";
import { ApiError } from "../../../api/api-error.ts";
import { configMap, createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import { createEventRecorder } from "../../control-loop/record-events.ts";
import { workloadPod } from "./__fixtures__/workload-objects.ts";
import { createPodControl } from "./pod-control.ts";
import { podFromTemplate } from "./pod-from-template.ts";
import { computeNextAvailableMs, isPodAvailable } from "./pod-standing.ts";
import { runSlowStart } from "./slow-start.ts";

const OWNER = configMap("web", { uid: "u1" });
const TEMPLATE = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };

function setUp() {
  const bench = createControllerBench();
  const events = createEventRecorder(bench.deps, "tester");
  const control = createPodControl(bench.deps, events);
  const told = async () => {
    await events.settled();
    return bench.reader.list("events").map(({ type, reason, message }) => ({ type, reason, message }));
  };
  return Object.assign(bench, { control, told });
}

test("a pod of a template belongs to its owner, and its name begins with the owner's", () => {
  expect(podFromTemplate(TEMPLATE, OWNER)).toMatchObject({
    metadata: {
      namespace: "a",
      generateName: "web-",
      labels: { app: "web" },
      ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "web", uid: "u1", controller: true }],
    },
    spec: TEMPLATE.spec,
  });
  expect(podFromTemplate(TEMPLATE, configMap("x".repeat(253))).metadata.generateName).toHaveLength(253);
});

test("creations and deletions are told about the owner", async () => {
  const { control, told } = setUp();
  const pod = await control.create(OWNER, podFromTemplate(TEMPLATE, OWNER));
  const name = pod?.metadata.name ?? "";
  expect(pod && (await control.remove(OWNER, pod))).toBe(true);
  expect(pod && (await control.remove(OWNER, pod))).toBe(false);
  expect(await told()).toEqual([
    { type: "Normal", reason: "SuccessfulCreate", message: `Created pod: ${name}` },
    { type: "Normal", reason: "SuccessfulDelete", message: `Deleted pod: ${name}` },
  ]);
});

test("a refusal is told, and another pod of the name stays", async () => {
  const bench = setUp();
  await bench.create("pods", workloadPod("p"));
  expect(await bench.control.remove(OWNER, workloadPod("p", { metadata: { uid: "before" } }))).toBe(false);
  bench.refuse = ({ resource }) => (resource === "pods" ? new ApiError("Forbidden", "exceeded quota") : undefined);
  await expect(bench.control.create(OWNER, podFromTemplate(TEMPLATE, OWNER))).rejects.toThrow("exceeded quota");
  await expect(bench.control.remove(OWNER, workloadPod("p"))).rejects.toThrow("exceeded quota");
  expect(await bench.told()).toEqual([
    { type: "Warning", reason: "FailedCreate", message: "Error creating: exceeded quota" },
    { type: "Warning", reason: "FailedDelete", message: "Error deleting: exceeded quota" },
  ]);
});

test.each(["Conflict", "NotFound"] as const)(
  "a webhook that refuses with %s, while the pod is still there, is told as any refusal",
  async (reason) => {
    const bench = setUp();
    const pod = await bench.create("pods", workloadPod("p"));
    bench.refuse = ({ resource }) => (resource === "pods" ? new ApiError(reason, "not now") : undefined);
    await expect(bench.control.remove(OWNER, pod)).rejects.toThrow("not now");
    expect(await bench.told()).toEqual([
      { type: "Warning", reason: "FailedDelete", message: "Error deleting: not now" },
    ]);
  },
);

test("nothing is told of a namespace that is being deleted", async () => {
  const bench = setUp();
  const causes = [{ reason: "NamespaceTerminating", message: "m" }];
  bench.refuse = () => new ApiError("Forbidden", "terminating", { causes });
  expect(await bench.control.create(OWNER, podFromTemplate(TEMPLATE, OWNER))).toBeUndefined();
  bench.refuse = () => undefined;
  expect(await bench.told()).toEqual([]);
});

test("a slow start doubles its batches, and ends with the batch that failed", async () => {
  const calls: number[] = [];
  const work = (fails: number) => async (index: number) => {
    calls.push(index);
    await Promise.resolve();
    if (index === fails) throw new ApiError("Forbidden", "no");
  };
  expect(await runSlowStart(6, work(-1))).toEqual({ succeeded: 6, error: undefined });
  expect(calls.splice(0)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(await runSlowStart(100, work(2))).toMatchObject({ succeeded: 2, error: { message: "no" } });
  expect(calls.splice(0)).toEqual([0, 1, 2]);
  expect(await runSlowStart(0, work(0))).toEqual({ succeeded: 0, error: undefined });
});

test("a large batch is not made all at once, so that others are served meanwhile", async () => {
  let underWay = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++underWay);
    await Promise.resolve();
    underWay--;
  };
  expect(await runSlowStart(500, work)).toEqual({ succeeded: 500, error: undefined });
  expect(most).toBeLessThanOrEqual(16);
});

test("a pod is available when it was ready for long enough, and the next one says when", () => {
  const pods = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:20Z"].map((readySince) => workloadPod("p", { readySince }));
  const at = Date.parse("2026-01-01T00:00:25Z");
  expect(pods.map((pod) => isPodAvailable(pod, 10, at))).toEqual([true, false]);
  expect(computeNextAvailableMs(pods, 10, at)).toBe(5_000);
  expect(computeNextAvailableMs(pods, 0, at)).toBeUndefined();
  expect(computeNextAvailableMs(pods, 3, at)).toBeUndefined();
  expect(isPodAvailable(workloadPod("p", { readySince: undefined }), 0, at)).toBe(false);
});
