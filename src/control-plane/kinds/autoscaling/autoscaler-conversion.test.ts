import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../../api/object.ts";
import {
  fromFormerAutoscaler,
  keepFormerStatus,
  takeFormerStatus,
  toFormerAutoscaler,
  withoutFormerStatus,
} from "./autoscaler-conversion.ts";

const PREFIX = "autoscaling.alpha.kubernetes.io";
const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
const selector = { matchLabels: { verb: "GET" } };
const processorShare = {
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
};

const EVERY_METRIC = [
  { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "1Gi" } } },
  { type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: "100m" } } },
  {
    type: "ContainerResource",
    containerResource: { name: "cpu", container: "app", target: { type: "Utilization", averageUtilization: 60 } },
  },
  {
    type: "Pods",
    pods: { metric: { name: "requests", selector }, target: { type: "AverageValue", averageValue: "7" } },
  },
  {
    type: "Object",
    object: {
      describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
      metric: { name: "hits" },
      target: { type: "Value", value: "10" },
    },
  },
  {
    type: "Object",
    object: {
      describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
      metric: { name: "hits" },
      target: { type: "AverageValue", averageValue: "3" },
    },
  },
  { type: "External", external: { metric: { name: "queue" }, target: { type: "AverageValue", averageValue: "30" } } },
  { type: "External", external: { metric: { name: "queue" }, target: { type: "Value", value: "5" } } },
];

const EVERY_STATUS = [
  { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 40, averageValue: "40m" } } },
  { type: "ContainerResource", containerResource: { name: "cpu", container: "app", current: { averageValue: "2" } } },
  { type: "Pods", pods: { metric: { name: "requests", selector }, current: { averageValue: "6" } } },
  {
    type: "Object",
    object: {
      describedObject: { apiVersion: "v1", kind: "Service", name: "web" },
      metric: { name: "hits" },
      current: { value: "10" },
    },
  },
  { type: "External", external: { metric: { name: "queue" }, current: { value: "0", averageValue: "3" } } },
];

const behavior = {
  scaleUp: {
    stabilizationWindowSeconds: 0,
    selectPolicy: "Max",
    policies: [{ type: "Pods", value: 4, periodSeconds: 15 }],
  },
};
const conditions = [
  { type: "AbleToScale", status: "True", lastTransitionTime: "2026-01-02T03:04:05Z", reason: "ok", message: "fine" },
];

function autoscaler(spec: object = {}, status?: object): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", annotations: { "example.com/mine": "kept" } },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics: [processorShare], ...spec },
    ...(status && { status }),
  };
}

function former(annotations: Record<string, string> = {}, spec: object = {}): KubeObject {
  return {
    apiVersion: "autoscaling/v1",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5, ...spec },
  };
}

describe("an autoscaler in its former version", () => {
  it("has a field for the processor's use, and no annotation of ours", () => {
    expect(toFormerAutoscaler(autoscaler())).toEqual({
      apiVersion: "autoscaling/v1",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", annotations: { "example.com/mine": "kept" } },
      spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 50 },
    });
  });

  it.each<[string, object, object | undefined]>([
    ["the processor's use", {}, undefined],
    ["metrics of every type", { metrics: [...EVERY_METRIC, processorShare] }, undefined],
    ["a behavior", { behavior }, undefined],
    [
      "a status",
      { metrics: [processorShare] },
      { currentReplicas: 2, desiredReplicas: 3, observedGeneration: 4, currentMetrics: EVERY_STATUS, conditions },
    ],
    ["the status of a new one", {}, { desiredReplicas: 0, currentMetrics: null }],
  ])("comes back as it was with %s", (_name, spec, status) => {
    const object = autoscaler(spec, status);
    expect(fromFormerAutoscaler(toFormerAutoscaler(object))).toEqual(object);
  });

  it("writes what it has no field for in the words of upstream's annotations", () => {
    const object = autoscaler(
      { metrics: EVERY_METRIC, behavior },
      { desiredReplicas: 1, currentMetrics: EVERY_STATUS },
    );
    const { metadata, status } = toFormerAutoscaler(object);
    const { [`${PREFIX}/metrics`]: metrics = "", [`${PREFIX}/current-metrics`]: current = "" } =
      metadata.annotations ?? {};
    expect(JSON.parse(metrics)).toContainEqual({
      type: "Object",
      object: { target: { apiVersion: "v1", kind: "Service", name: "web" }, metricName: "hits", targetValue: "10" },
    });
    expect(JSON.parse(current)).toContainEqual({
      type: "Pods",
      pods: { metricName: "requests", currentAverageValue: "6", selector },
    });
    expect(JSON.parse(metadata.annotations?.[`${PREFIX}/behavior`] ?? "")).toEqual({
      ScaleUp: {
        StabilizationWindowSeconds: 0,
        SelectPolicy: "Max",
        Policies: [{ Type: "Pods", Value: 4, PeriodSeconds: 15 }],
      },
    });
    expect(status).toEqual({ currentReplicas: 0, desiredReplicas: 1, currentCPUUtilizationPercentage: 40 });
  });

  it.each<[string, Record<string, string>]>([
    ["says nothing", {}],
    ["is no JSON", { [`${PREFIX}/metrics`]: "[{", [`${PREFIX}/behavior`]: "{" }],
    ["is no list", { [`${PREFIX}/metrics`]: "7", [`${PREFIX}/behavior`]: "[]" }],
    ["has a metric that is none", { [`${PREFIX}/metrics`]: '[{"type":"Pods","pods":{"metricName":7}}]' }],
    ["has an empty behavior", { [`${PREFIX}/behavior`]: "{}" }],
    ["nests without end", { [`${PREFIX}/metrics`]: "[".repeat(50_000), [`${PREFIX}/behavior`]: "[".repeat(50_000) }],
  ])("follows the processor's use where its annotation %s", (_name, annotations) => {
    const { spec, metadata } = fromFormerAutoscaler(former(annotations));
    const target = { type: "Utilization", averageUtilization: 80 };
    const metrics = [{ type: "Resource", resource: { name: "cpu", target } }];
    expect(spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5, metrics });
    expect(metadata).toEqual({ name: "web" });
  });

  it("keeps its status when its spec is written, and its spec when its status is", () => {
    const current = former({ [`${PREFIX}/conditions`]: "told", [`${PREFIX}/behavior`]: "wanted" });
    const spec = keepFormerStatus(former({ [`${PREFIX}/conditions`]: "lie" }, { maxReplicas: 9 }), current);
    expect(spec.metadata.annotations).toEqual({ [`${PREFIX}/conditions`]: "told" });
    const next = { ...former({ [`${PREFIX}/conditions`]: "new", own: "1" }, { maxReplicas: 9 }), status: { a: 1 } };
    const status = takeFormerStatus(next, current);
    expect(status).toMatchObject({ spec: { maxReplicas: 5 }, status: { a: 1 } });
    expect(status.metadata.annotations).toEqual({
      [`${PREFIX}/conditions`]: "new",
      [`${PREFIX}/behavior`]: "wanted",
      own: "1",
    });
  });

  it("is created without a status", () => {
    const created = withoutFormerStatus({ ...former({ [`${PREFIX}/conditions`]: "lie" }), status: { a: 1 } });
    expect(created).toEqual({ ...former(), status: { currentReplicas: 0, desiredReplicas: 0 } });
  });
});
