import { expect, test } from "vitest";
import { forbiddenError } from "../../../api/api-error.ts";
import type { HorizontalPodAutoscalerSpec, MetricSpec } from "../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../api/object.ts";
import { MINUTE, SECOND } from "../../../base/clock.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createControllerBench } from "../../control-loop/__fixtures__/run-controllers.ts";
import type { ForeignAnswer, ForeignQuestion, ReadForeign } from "../../ports/foreign-reads.ts";
import { measuredPod, podMetrics } from "./__fixtures__/measured-pods.ts";
import { createPodAutoscalers } from "./autoscaler-controller.ts";
import { AUTOSCALER_DEFAULTS } from "./autoscaler-settings.ts";
import type { FoundScale } from "./scale-targets.ts";

const AUTOSCALERS = "horizontalpodautoscalers.autoscaling";
const CPU: MetricSpec = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};

function autoscaler(spec: Partial<HorizontalPodAutoscalerSpec> = {}, name = "h"): KubeObject {
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name, namespace: "a" },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 10, metrics: [CPU], ...spec },
    status: { desiredReplicas: 0, currentMetrics: null },
  };
}

function scaleOf(replicas: number, selector: string): FoundScale {
  return { kind: "scale", scale: { replicas, statusReplicas: replicas, selector } };
}

/** A target of so many replicas, each of whose pods uses so much in each of two containers that ask for one CPU. */
function setUp(replicas: number, milliCores: number, selector = "app=web") {
  const bench = createControllerBench();
  const scaled: number[] = [];
  const world = {
    found: scaleOf(replicas, selector),
    milliCores,
    refuses: false,
    scaled,
    answer: (_question: ForeignQuestion): ForeignAnswer => ({ kind: "unserved" }),
  };
  const labels = { app: "web" };
  const resize = async (count: number) => {
    world.found = scaleOf(count, selector);
    for (let index = bench.reader.list("pods").length; index < count; index++) {
      const { metadata, ...pod } = measuredPod(index);
      await bench.create("pods", { ...pod, apiVersion: "v1", kind: "Pod", metadata: { ...metadata, labels } });
    }
  };
  const targets = {
    find: async () => await Promise.resolve(world.found),
    async setReplicas(_target: object, _namespace: string, count: number) {
      if (world.refuses) throw forbiddenError({ group: "apps", resource: "deployments" }, "web", "too many");
      world.scaled.push(count);
      await resize(count);
    },
  };
  const reads = {
    async read() {
      const levels = Array.from({ length: bench.reader.list("pods").length }, () => [
        world.milliCores,
        world.milliCores,
      ]);
      const metrics = podMetrics(levels).map((object) => ({ ...object, metadata: { ...object.metadata, labels } }));
      return await Promise.resolve(metrics);
    },
  };
  const metrics = createMetrics();
  const readForeign: ReadForeign = async (question) => await Promise.resolve(world.answer(question));
  const pluralOf = (_group: string, kind: string) => (kind === "Service" ? "services" : undefined);
  const deps = { ...bench.deps, targets, podMetrics: reads, metrics, readForeign, pluralOf };
  const stop = bench.start(createPodAutoscalers(deps, AUTOSCALER_DEFAULTS));
  const status = (name = "h") => {
    const object = bench.reader.get({ resource: AUTOSCALERS, namespace: "a", name });
    return object && typed("HorizontalPodAutoscaler", object).status;
  };
  return {
    ...bench,
    world,
    metrics,
    stop,
    resize,
    status,
    async add(...objects: KubeObject[]) {
      await resize(replicas);
      for (const object of objects) await bench.create(AUTOSCALERS, object);
      await bench.clock.settle();
    },
    conditions: (name = "h") =>
      (status(name)?.conditions ?? []).map(({ type, status: is, reason }) => [type, is, reason]),
    events: () => {
      return bench.reader.list("events").map((object) => {
        const { reason = "", message = "" } = typed("Event", object);
        return `${reason}: ${message}`;
      });
    },
  };
}

test("what is used above its target makes more, at once and again each fifteen seconds", async () => {
  const { add, world, status, conditions, events, clock, stop } = setUp(1, 900);
  await add(autoscaler());
  expect(world.scaled).toEqual([2]);
  expect(events()).toEqual([
    "SuccessfulRescale: New size: 2; reason: cpu resource utilization (percentage of request) above target",
  ]);
  expect(status()).toMatchObject({
    currentReplicas: 1,
    desiredReplicas: 2,
    lastScaleTime: expect.any(String),
    currentMetrics: [
      { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 90, averageValue: "1800m" } } },
    ],
  });
  expect(conditions()).toEqual([
    ["AbleToScale", "True", "SucceededRescale"],
    ["ScalingActive", "True", "ValidMetricFound"],
    ["ScalingLimited", "False", "DesiredWithinRange"],
  ]);
  await clock.advance(14 * SECOND);
  expect(world.scaled).toEqual([2]);
  await clock.advance(SECOND);
  expect(world.scaled).toEqual([2, 4]);
  expect(status()).toMatchObject({ currentReplicas: 2, desiredReplicas: 4 });
  await stop();
  expect(clock.pendingTimers).toBe(0);
});

test("what is used below its target makes fewer, five minutes later", async () => {
  const { add, world, conditions, clock } = setUp(4, 100);
  await add(autoscaler());
  expect(conditions()).toContainEqual(["AbleToScale", "True", "ScaleDownStabilized"]);
  await clock.advance(5 * MINUTE);
  expect(world.scaled).toEqual([]);
  await clock.advance(15 * SECOND);
  expect(world.scaled).toEqual([1]);
});

test("the bounds hold whatever is used", async () => {
  const { add, world, events, writer, status, clock } = setUp(12, 900);
  await add(autoscaler());
  expect(world.scaled).toEqual([10]);
  expect(events()).toEqual([
    "SuccessfulRescale: New size: 10; reason: Current number of replicas above Spec.MaxReplicas",
  ]);
  expect(status()?.currentMetrics).toBeNull();
  await writer.update(AUTOSCALERS, autoscaler({ minReplicas: 15, maxReplicas: 20 }));
  await clock.settle();
  expect(world.scaled).toEqual([10, 15]);
});

test("a target of no replicas is left alone", async () => {
  const { add, world, conditions, status } = setUp(0, 900);
  await add(autoscaler());
  expect(world.scaled).toEqual([]);
  expect(conditions()).toContainEqual(["ScalingActive", "False", "ScalingDisabled"]);
  expect(status()).toMatchObject({ desiredReplicas: 0 });
});

test("metrics that nobody has are told of, and the rest goes on", async () => {
  const pods: MetricSpec = {
    type: "Pods",
    pods: { metric: { name: "qps" }, target: { type: "AverageValue", averageValue: "1" } },
  };
  const { add, world, conditions, events, clock, status } = setUp(2, 900);
  await add(autoscaler({ metrics: [pods, CPU] }));
  expect(world.scaled).toEqual([4]);
  expect(conditions()).toContainEqual(["ScalingActive", "True", "ValidMetricFound"]);
  expect(status()?.currentMetrics).toMatchObject([{ type: "" }, { type: "Resource" }]);
  world.milliCores = 100;
  await clock.advance(15 * SECOND);
  expect(world.scaled).toEqual([4]);
  expect(conditions()).toContainEqual(["ScalingActive", "False", "FailedGetPodsMetric"]);
  const message =
    "unable to get metric qps: unable to fetch metrics from custom metrics API: " +
    "no custom metrics API (custom.metrics.k8s.io) registered";
  expect(events()).toContain(`FailedGetPodsMetric: ${message}`);
  expect(events()).toContain(
    `FailedComputeMetricsReplicas: invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: ${message}`,
  );
});

test.each<[MetricSpec, string, string]>([
  [
    { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "1" } } },
    "FailedGetExternalMetric",
    "unable to get external metric a/queue/nil: unable to fetch metrics from external metrics API: " +
      "the server could not find the requested resource (get queue.external.metrics.k8s.io)",
  ],
  [
    {
      type: "Object",
      object: {
        metric: { name: "hits" },
        describedObject: { kind: "Service", name: "s" },
        target: { type: "Value", value: "1" },
      },
    },
    "FailedGetObjectMetric",
    "unable to get metric hits: unable to fetch metrics from custom metrics API: " +
      "no custom metrics API (custom.metrics.k8s.io) registered on Service a/s",
  ],
  [
    {
      type: "ContainerResource",
      containerResource: { name: "cpu", container: "x", target: { type: "Utilization", averageUtilization: 50 } },
    },
    "FailedGetContainerResourceMetric",
    "failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)",
  ],
])("a metric that is not there: %j", async (metric, reason, message) => {
  const { add, conditions, events } = setUp(2, 900);
  await add(autoscaler({ metrics: [metric] }));
  expect(conditions()).toContainEqual(["ScalingActive", "False", reason]);
  expect(events()).toContain(`${reason}: ${message}`);
});

const PODS: MetricSpec = {
  type: "Pods",
  pods: { metric: { name: "qps" }, target: { type: "AverageValue", averageValue: "10" } },
};
const HITS = { metric: { name: "hits" }, describedObject: { kind: "Service", name: "s" } };
const QUEUE = { name: "queue", selector: { matchLabels: { of: "a" } } };
const listOf = (...values: string[]): ForeignAnswer => {
  const items = values.map((value, index) => ({ describedObject: { kind: "Pod", name: `pod-${index}` }, value }));
  return { kind: "answered", status: 200, text: JSON.stringify({ kind: "MetricValueList", items }) };
};

test.each<[MetricSpec, ForeignAnswer, string, number, object]>([
  [
    PODS,
    listOf("20", "15500m"),
    "custom.metrics.k8s.io/v1beta2/namespaces/a/pods/*/qps?labelSelector=app%3Dweb",
    4,
    { pods: { metric: { name: "qps" }, current: { averageValue: "17750m" } } },
  ],
  [
    { type: "Object", object: { ...HITS, target: { type: "Value", value: "20" } } },
    listOf("30"),
    "custom.metrics.k8s.io/v1beta2/namespaces/a/services/s/hits",
    3,
    { object: { ...HITS, current: { value: "30" } } },
  ],
  [
    { type: "Object", object: { ...HITS, target: { type: "AverageValue", averageValue: "10" } } },
    listOf("45"),
    "custom.metrics.k8s.io/v1beta2/namespaces/a/services/s/hits",
    4,
    { object: { ...HITS, current: { averageValue: "22500m" } } },
  ],
  [
    { type: "External", external: { metric: QUEUE, target: { type: "Value", value: "6600m" } } },
    listOf("8600m"),
    "external.metrics.k8s.io/v1beta1/namespaces/a/queue?labelSelector=of%3Da",
    3,
    { external: { metric: QUEUE, current: { value: "8600m" } } },
  ],
  [
    { type: "External", external: { metric: QUEUE, target: { type: "AverageValue", averageValue: "2" } } },
    listOf("4", "4"),
    "external.metrics.k8s.io/v1beta1/namespaces/a/queue?labelSelector=of%3Da",
    4,
    { external: { metric: QUEUE, current: { averageValue: "4" } } },
  ],
])("what servers of others measure scales: %j", async (metric, answer, asked, replicas, current) => {
  const { add, world, status, conditions } = setUp(2, 900);
  const questions: ForeignQuestion[] = [];
  world.answer = (question) => {
    questions.push(question);
    return answer;
  };
  await add(autoscaler({ metrics: [metric] }));
  expect(questions.map(({ group, version, path }) => `${group}/${version}/${path}`)).toEqual([asked]);
  expect(questions[0]?.user.username).toBe("system:serviceaccount:kube-system:horizontal-pod-autoscaler");
  expect(world.scaled).toEqual([replicas]);
  expect(conditions()).toContainEqual(["ScalingActive", "True", "ValidMetricFound"]);
  expect(status()?.currentMetrics).toEqual([{ type: metric.type, ...current }]);
});

test("an adapter of the former version is asked too", async () => {
  const { add, world } = setUp(2, 900);
  world.answer = ({ version }) => (version === "v1beta1" ? listOf("20", "20") : { kind: "unserved" });
  await add(autoscaler({ metrics: [PODS] }));
  expect(world.scaled).toEqual([4]);
});

test.each<[ForeignAnswer, string]>([
  [{ kind: "failed", message: "too late" }, "unable to fetch metrics from custom metrics API: too late"],
  [listOf(), "no metrics returned from custom metrics API"],
  [
    listOf("20", "many"),
    "unable to fetch metrics from custom metrics API: items[1].value of the answer is no quantity",
  ],
  [
    { kind: "answered", status: 200, text: "{" },
    "unable to fetch metrics from custom metrics API: the answer is no list of metric values",
  ],
  [
    { kind: "answered", status: 404, text: JSON.stringify({ kind: "Status", message: "no such metric" }) },
    "unable to fetch metrics from custom metrics API: no such metric",
  ],
  [{ kind: "answered", status: 500, text: "" }, "unable to fetch metrics from custom metrics API: bad status: 500"],
])("an adapter that fails, fails its metric only: %j", async (answer, message) => {
  const { add, world, events } = setUp(2, 900);
  world.answer = () => answer;
  await add(autoscaler({ metrics: [PODS, CPU] }));
  expect(world.scaled).toEqual([4]);
  expect(events()).toContain(`FailedGetPodsMetric: unable to get metric qps: ${message}`);
});

test("a target that is not there, or does not tell its pods, is told of", async () => {
  const { add, world, conditions, events, clock } = setUp(2, 900, "");
  await add(autoscaler());
  expect(conditions()).toContainEqual(["ScalingActive", "False", "InvalidSelector"]);
  expect(events()).toEqual([
    "SelectorRequired: selector is required",
    "FailedComputeMetricsReplicas: selector is required",
  ]);
  world.found = { kind: "failed", message: 'deployments.apps "web" not found' };
  await clock.advance(15 * SECOND);
  expect(conditions()).toContainEqual(["AbleToScale", "False", "FailedGetScale"]);
  expect(events()).toContain('FailedGetScale: deployments.apps "web" not found');
});

test("two autoscalers of the same pods scale nothing more", async () => {
  const { add, world, conditions, events, clock } = setUp(2, 500);
  await add(autoscaler(), autoscaler({}, "other"));
  await clock.advance(15 * SECOND);
  expect(conditions()).toContainEqual(["ScalingActive", "False", "AmbiguousSelector"]);
  expect(conditions("other")).toContainEqual(["ScalingActive", "False", "AmbiguousSelector"]);
  expect(world.scaled).toEqual([]);
  expect(events()).toContain(
    "AmbiguousSelector: pods by selector app=web are controlled by multiple HPAs: [a/h a/other]",
  );
});

test("a target that takes no scale is told of, and tried again", async () => {
  const { add, world, conditions, events, clock, status } = setUp(1, 900);
  world.refuses = true;
  await add(autoscaler());
  expect(conditions()).toContainEqual(["AbleToScale", "False", "FailedUpdateScale"]);
  expect(events()).toContainEqual(expect.stringMatching(/^FailedRescale: New size: 2; reason: .*; error: .*too many/));
  expect(status()).not.toHaveProperty("lastScaleTime");
  world.refuses = false;
  await clock.advance(15 * SECOND);
  expect(world.scaled).toEqual([2]);
});

test("an autoscaler that goes is not looked at any more", async () => {
  const { add, world, writer, clock } = setUp(1, 900);
  await add(autoscaler());
  await writer.remove({ resource: AUTOSCALERS, namespace: "a", name: "h" });
  await clock.advance(MINUTE);
  expect(world.scaled).toEqual([2]);
  expect(clock.pendingTimers).toBe(0);
});

test("looks are counted by what they did", async () => {
  const { add, world, metrics, clock, writer } = setUp(1, 900);
  await add(autoscaler());
  world.found = { kind: "failed", message: "gone" };
  await clock.advance(15 * SECOND);
  const prefix = "horizontal_pod_autoscaler_controller";
  const text = await metrics.render();
  for (const line of [
    `${prefix}_reconciliations_total{action="scale_up",error="none"} 1`,
    `${prefix}_reconciliations_total{action="none",error="internal"} 1`,
    `${prefix}_reconciliation_duration_seconds_count{action="scale_up",error="none"} 1`,
    `${prefix}_num_horizontal_pod_autoscalers 1`,
    `${prefix}_desired_replicas{namespace="a",hpa_name="h"} 2`,
  ]) {
    expect(text).toContain(`${line}\n`);
  }
  await writer.remove({ resource: AUTOSCALERS, namespace: "a", name: "h" });
  await clock.settle();
  expect(await metrics.render()).not.toContain('hpa_name="h"');
});
