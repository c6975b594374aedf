import { describe, expect, it } from "vitest";
import type { Container, PodSpec } from "./gen/types.ts";
import { computeQosClass } from "./qos.ts";
import { computePodLimits, computePodRequests, type ResourceList } from "./resources.ts";

const container = (requests: ResourceList, limits: ResourceList = {}, more: Partial<Container> = {}): Container => ({
  name: "c",
  resources: { requests, limits },
  ...more,
});
const sidecar = (requests: ResourceList, limits: ResourceList = {}) =>
  container(requests, limits, { restartPolicy: "Always" });
const cpu = (amount: string) => ({ cpu: amount });

describe("pod requests", () => {
  it.each<[string, PodSpec, ResourceList]>([
    ["nothing", { containers: [{ name: "c" }] }, {}],
    ["the sum of the main containers", { containers: [container(cpu("1")), container(cpu("500m"))] }, cpu("1500m")],
    ["canonical", { containers: [container({ memory: "1024Mi" })] }, { memory: "1Gi" }],
    [
      "the largest init container when it is larger",
      { containers: [container(cpu("1"))], initContainers: [container(cpu("2")), container(cpu("1500m"))] },
      cpu("2"),
    ],
    [
      "sidecars beside the main containers",
      { containers: [container(cpu("1"))], initContainers: [sidecar(cpu("200m")), container(cpu("500m"))] },
      cpu("1200m"),
    ],
    [
      "an init container beside the sidecars before it only",
      {
        containers: [container(cpu("1"))],
        initContainers: [sidecar(cpu("1")), container(cpu("2")), sidecar(cpu("500m"))],
      },
      cpu("3"),
    ],
    [
      "overhead on top",
      { containers: [container(cpu("1"))], overhead: { cpu: "250m", memory: "64Mi" } },
      { cpu: "1250m", memory: "64Mi" },
    ],
    [
      "pod-level instead of the sum",
      { containers: [container({ cpu: "1", "example.com/gpu": "1" })], resources: { requests: cpu("4") } },
      { cpu: "4", "example.com/gpu": "1" },
    ],
  ])("are %s", (_, spec, expected) => {
    expect(computePodRequests({ spec })).toEqual(expected);
  });
});

describe("pod limits", () => {
  it.each<[string, PodSpec, ResourceList]>([
    ["the sum", { containers: [container({}, cpu("1")), container({}, cpu("1"))] }, cpu("2")],
    [
      "with overhead where there is a limit",
      { containers: [container({}, cpu("1"))], overhead: { cpu: "1", memory: "1Gi" } },
      cpu("2"),
    ],
    [
      "pod-level instead",
      { containers: [container({}, cpu("1"))], resources: { limits: { cpu: "3", memory: "1Gi" } } },
      { cpu: "3", memory: "1Gi" },
    ],
  ])("are %s", (_, spec, expected) => {
    expect(computePodLimits({ spec })).toEqual(expected);
  });
});

describe("QoS class", () => {
  const both = { cpu: "1", memory: "1Gi" };
  it.each<[string, PodSpec, string]>([
    ["nothing asked", { containers: [{ name: "c" }] }, "BestEffort"],
    ["zero asked", { containers: [container({ cpu: "0" }, { memory: "0" })] }, "BestEffort"],
    ["only other resources", { containers: [container({ "ephemeral-storage": "1Gi" })] }, "BestEffort"],
    ["requests are limits", { containers: [container(both, both)] }, "Guaranteed"],
    [
      "the same amount written otherwise",
      { containers: [container({ cpu: "1000m", memory: "1Gi" }, both)] },
      "Guaranteed",
    ],
    ["one resource only", { containers: [container(cpu("1"), cpu("1"))] }, "Burstable"],
    ["requests below limits", { containers: [container({ cpu: "500m", memory: "1Gi" }, both)] }, "Burstable"],
    ["requests without limits", { containers: [container(both)] }, "Burstable"],
    ["one container without", { containers: [container(both, both), { name: "d" }] }, "Burstable"],
    [
      "an init container without",
      { containers: [container(both, both)], initContainers: [{ name: "i" }] },
      "Burstable",
    ],
    ["pod-level decides", { containers: [{ name: "c" }], resources: { requests: both, limits: both } }, "Guaranteed"],
    ["pod-level requests only", { containers: [container(both, both)], resources: { requests: both } }, "Burstable"],
  ])("%s", (_, spec, expected) => {
    expect(computeQosClass({ spec })).toBe(expected);
  });
});
