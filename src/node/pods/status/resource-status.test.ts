import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { computePodResourceStatus } from "./resource-status.ts";

const main = { name: "main", image: "i", resources: { requests: { cpu: "1", memory: "64Mi" } } };

it("tells of a pod with resources of its own what it was granted and what it has got", () => {
  const pod: Pod = {
    spec: { containers: [main], resources: { requests: { cpu: "3" }, limits: { cpu: "4" } } },
  };
  expect(computePodResourceStatus(pod, undefined)).toEqual({
    resources: { requests: { cpu: "3", memory: "64Mi" }, limits: { cpu: "4" } },
    allocatedResources: { cpu: "3", memory: "64Mi" },
  });
  expect(computePodResourceStatus(pod, { requests: { cpu: "2" } })).toEqual({
    resources: { requests: { cpu: "2", memory: "64Mi" } },
    allocatedResources: { cpu: "3", memory: "64Mi" },
  });
});

it("tells nothing of a pod that has its containers' alone", () => {
  expect(computePodResourceStatus({ spec: { containers: [main] } }, undefined)).toEqual({});
});
