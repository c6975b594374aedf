import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { computePodResourceStatus } from "./resource-status.ts";

const main = { name: "main", image: "i", resources: { requests: { cpu: "1", memory: "64Mi" } } };

const running = { phase: "Running", actuated: undefined };

it("tells of a pod with resources of its own what it was granted and what it has got", () => {
  const pod: Pod = {
    spec: { containers: [main], resources: { requests: { cpu: "3" }, limits: { cpu: "4" } } },
  };
  expect(computePodResourceStatus(pod, running)).toEqual({
    resources: { requests: { cpu: "3", memory: "64Mi" }, limits: { cpu: "4" } },
    allocatedResources: { cpu: "3", memory: "64Mi" },
  });
  const actuated = { containers: {}, pod: { requests: { cpu: "2" } } };
  expect(computePodResourceStatus(pod, { phase: "Running", actuated })).toEqual({
    resources: { requests: { cpu: "2", memory: "64Mi" } },
    allocatedResources: { cpu: "3", memory: "64Mi" },
  });
  const before = { containers: { main: main.resources } };
  expect(computePodResourceStatus(pod, { phase: "Running", actuated: before }).resources).toEqual({
    requests: { cpu: "1", memory: "64Mi" },
  });
});

it("tells of other pods what their containers were granted and have got together, with the overhead", () => {
  const side = { name: "side", image: "i", resources: { requests: { cpu: "500m" }, limits: { cpu: "1" } } };
  const pod: Pod = { spec: { containers: [main, side], overhead: { cpu: "100m" } } };
  const actuated = { containers: { side: { requests: { cpu: "250m" }, limits: { cpu: "2" } } } };
  expect(computePodResourceStatus(pod, { phase: "Running", actuated })).toEqual({
    resources: { requests: { cpu: "1350m", memory: "64Mi" }, limits: { cpu: "2100m" } },
    allocatedResources: { cpu: "1600m", memory: "64Mi" },
  });
});

it("tells of a pod that runs only what its cgroup holds and what it sets as a whole", () => {
  const requests = { cpu: "1", "hugepages-2Mi": "2Mi", "ephemeral-storage": "1Gi" };
  const pod: Pod = { spec: { containers: [{ ...main, resources: { requests } }] } };
  expect(computePodResourceStatus(pod, running)).toEqual({
    resources: { requests: { cpu: "1" } },
    allocatedResources: requests,
  });
  expect(computePodResourceStatus(pod, { phase: "Pending", actuated: undefined }).resources).toEqual({ requests });
  const whole: Pod = { spec: { containers: [main], resources: { limits: { "hugepages-2Mi": "4Mi" } } } };
  expect(computePodResourceStatus(whole, running).resources?.limits).toEqual({ "hugepages-2Mi": "4Mi" });
});

it("tells of a pod without any that there are none", () => {
  const pod: Pod = { spec: { containers: [{ name: "main", image: "i" }] } };
  expect(computePodResourceStatus(pod, running)).toEqual({ resources: {} });
});
