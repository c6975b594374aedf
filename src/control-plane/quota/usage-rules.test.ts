import { describe, expect, test } from "vitest";
import type { PodSpec, ScopedResourceSelectorRequirement } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { countUsage, isInScopes, usageRuleOf } from "./usage-rules.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const METADATA = { name: "x", namespace: "a" };

const pod = (spec: Partial<PodSpec> = {}, more: object = {}): KubeObject => {
  return { apiVersion: "v1", kind: "Pod", metadata: METADATA, spec: { containers: [], ...spec }, ...more };
};
const withResources = (requests: Record<string, string>, limits: Record<string, string> = {}): KubeObject => {
  return pod({ containers: [{ name: "c", image: "i", resources: { requests, limits } }] });
};
const service = (spec: object): KubeObject => ({ apiVersion: "v1", kind: "Service", metadata: METADATA, spec });
const claim = (spec: object, status: object = {}): KubeObject => {
  return { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: METADATA, spec, status };
};
const DEVICE_CLAIMS = "resourceclaims.resource.k8s.io";
const deviceClaim = (...requests: readonly object[]): KubeObject => {
  const named = requests.map((request, index) => ({ name: `r${index}`, ...request }));
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: METADATA,
    spec: { devices: { requests: named } },
  };
};
const ofClass = claim({ storageClassName: "gold", resources: { requests: { storage: "2Gi" } } });
const PORTS = [{ port: 80, nodePort: 30080 }, { port: 81 }];
const ONE_POD = { "count/pods": "1", pods: "1" };
const ONE_SERVICE = { "count/services": "1", services: "1" };
const ONE_CLAIM = { "count/persistentvolumeclaims": "1", persistentvolumeclaims: "1" };

test.each<[string, string, KubeObject, Record<string, string>]>([
  ["a pod without requests", "pods", pod(), ONE_POD],
  [
    "a pod with requests and limits",
    "pods",
    withResources({ cpu: "100m", memory: "1Gi", "ephemeral-storage": "1Gi" }, { cpu: "1", "ephemeral-storage": "2Gi" }),
    {
      ...ONE_POD,
      cpu: "100m",
      "requests.cpu": "100m",
      "limits.cpu": "1",
      memory: "1Gi",
      "requests.memory": "1Gi",
      "ephemeral-storage": "1Gi",
      "requests.ephemeral-storage": "1Gi",
      "limits.ephemeral-storage": "2Gi",
    },
  ],
  [
    "a pod with huge pages and devices",
    "pods",
    withResources({ "hugepages-2Mi": "4Mi", "example.com/gpu": "2" }),
    { ...ONE_POD, "hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi", "requests.example.com/gpu": "2" },
  ],
  ["a claim of no device", DEVICE_CLAIMS, deviceClaim(), { [`count/${DEVICE_CLAIMS}`]: "1" }],
  [
    "a claim of devices, by class, of alternatives the largest",
    DEVICE_CLAIMS,
    deviceClaim(
      { exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count: 2 } },
      { exactly: { deviceClassName: "nic", allocationMode: "All" } },
      {
        firstAvailable: [
          { deviceClassName: "gpu", allocationMode: "ExactCount", count: 1 },
          { deviceClassName: "gpu", allocationMode: "ExactCount", count: 3 },
          { deviceClassName: "fpga", allocationMode: "ExactCount", count: 1 },
          { deviceClassName: "odd", allocationMode: "Unknown", count: 7 },
        ],
      },
    ),
    {
      [`count/${DEVICE_CLAIMS}`]: "1",
      "gpu.deviceclass.resource.k8s.io/devices": "5",
      "nic.deviceclass.resource.k8s.io/devices": "32",
      "fpga.deviceclass.resource.k8s.io/devices": "1",
      "odd.deviceclass.resource.k8s.io/devices": "0",
    },
  ],
  ["a pod that has ended", "pods", pod({}, { status: { phase: "Succeeded" } }), { "count/pods": "1" }],
  [
    "a pod that should have ended by now",
    "pods",
    pod({}, { metadata: { ...METADATA, deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 } }),
    { "count/pods": "1" },
  ],
  [
    "a pod that is being made smaller",
    "pods",
    pod(
      { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }] },
      { status: { containerStatuses: [{ name: "c", resources: { requests: { cpu: "2" } } }] } },
    ),
    { ...ONE_POD, cpu: "2", "requests.cpu": "2" },
  ],
  [
    "a plain service",
    "services",
    service({ ports: PORTS }),
    { ...ONE_SERVICE, "services.nodeports": "0", "services.loadbalancers": "0" },
  ],
  [
    "a service on the nodes' ports",
    "services",
    service({ type: "NodePort", ports: PORTS }),
    { ...ONE_SERVICE, "services.nodeports": "2", "services.loadbalancers": "0" },
  ],
  [
    "a balanced service that wants no more ports",
    "services",
    service({ type: "LoadBalancer", allocateLoadBalancerNodePorts: false, ports: PORTS }),
    { ...ONE_SERVICE, "services.nodeports": "1", "services.loadbalancers": "1" },
  ],
  [
    "a claim of a class",
    "persistentvolumeclaims",
    ofClass,
    {
      ...ONE_CLAIM,
      "requests.storage": "2Gi",
      "gold.storageclass.storage.k8s.io/persistentvolumeclaims": "1",
      "gold.storageclass.storage.k8s.io/requests.storage": "2Gi",
    },
  ],
  [
    "a claim that was to grow further",
    "persistentvolumeclaims",
    claim({ resources: { requests: { storage: "1Gi" } } }, { allocatedResources: { storage: "3Gi" } }),
    { ...ONE_CLAIM, "requests.storage": "3Gi" },
  ],
  ["a secret", "secrets", { ...pod(), kind: "Secret" }, { "count/secrets": "1", secrets: "1" }],
  ["a custom object", "crontabs.example.com", { ...pod(), kind: "CronTab" }, { "count/crontabs.example.com": "1" }],
])("%s uses what quotas know it by", (_name, resource, object, usage) => {
  const rule = usageRuleOf(resource);
  expect(rule?.usageOf(object, NOW)).toEqual(usage);
  for (const name of Object.keys(usage)) expect(rule?.counts(name)).toBe(true);
});

test("events are not counted", () => {
  expect(usageRuleOf("events")).toBeUndefined();
  expect(usageRuleOf("events.events.k8s.io")).toBeUndefined();
});

const CROSSING = pod({
  affinity: {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, podAffinityTerm: { topologyKey: "h", namespaceSelector: {} } },
      ],
    },
  },
});
const URGENT = pod({ priorityClassName: "high" });
const PREMIUM = claim({ volumeAttributesClassName: "premium" }, { currentVolumeAttributesClassName: "basic" });

test.each<[string, KubeObject, string, boolean]>([
  ["Terminating", pod({ activeDeadlineSeconds: 5 }), "pods", true],
  ["Terminating", pod(), "pods", false],
  ["NotTerminating", pod(), "pods", true],
  ["BestEffort", pod(), "pods", true],
  ["NotBestEffort", withResources({ cpu: "1" }), "pods", true],
  ["NotBestEffort", pod(), "pods", false],
  ["PriorityClass", URGENT, "pods", true],
  ["PriorityClass", pod(), "pods", false],
  ["CrossNamespacePodAffinity", CROSSING, "pods", true],
  ["CrossNamespacePodAffinity", pod(), "pods", false],
  ["VolumeAttributesClass", PREMIUM, "persistentvolumeclaims", true],
  ["VolumeAttributesClass", ofClass, "persistentvolumeclaims", false],
  ["VolumeAttributesClass", pod(), "pods", false],
  ["Terminating", ofClass, "persistentvolumeclaims", false],
  ["BestEffort", service({}), "services", false],
])("the scope %s takes the objects that belong to it", (scope, object, resource, isIn) => {
  const rule = usageRuleOf(resource);
  expect(rule && isInScopes(rule, { scopes: [scope] }, object)).toBe(isIn);
});

test.each<[Omit<ScopedResourceSelectorRequirement, "scopeName">, boolean, boolean]>([
  [{ operator: "In", values: ["high", "low"] }, true, false],
  [{ operator: "In", values: ["low"] }, false, false],
  [{ operator: "NotIn", values: ["high"] }, false, true],
  [{ operator: "NotIn", values: ["low"] }, true, true],
  [{ operator: "Exists" }, true, false],
  [{ operator: "DoesNotExist" }, false, true],
])("a selector of priority classes: %j", (requirement, ofUrgent, ofPlain) => {
  const spec = { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", ...requirement }] } };
  const rule = usageRuleOf("pods");
  expect(rule && isInScopes(rule, spec, URGENT)).toBe(ofUrgent);
  expect(rule && isInScopes(rule, spec, pod())).toBe(ofPlain);
});

describe("a count", () => {
  const world: Record<string, KubeObject[]> = {
    pods: [withResources({ cpu: "500m" }), withResources({ cpu: "1" }), pod()],
    secrets: [pod(), pod()],
    "crontabs.example.com": [pod()],
  };
  const counting = {
    reader: { list: (resource: string) => world[resource] ?? [] },
    resources: Object.keys(world),
    now: NOW,
  };

  test("adds up what all objects use of what the quota limits", () => {
    const hard = { pods: "5", "requests.cpu": "2", secrets: "3", "count/crontabs.example.com": "1", "limits.cpu": "1" };
    expect(countUsage({ hard }, "a", counting)).toEqual({
      pods: "3",
      "requests.cpu": "1500m",
      secrets: "2",
      "count/crontabs.example.com": "1",
      "limits.cpu": "0",
    });
  });

  test("leaves out what is not in scope, and what nothing counts", () => {
    const hard = { pods: "5", "count/absent.example.com": "1" };
    expect(countUsage({ hard, scopes: ["BestEffort"] }, "a", counting)).toEqual({ pods: "1" });
  });
});
