import { expect, test } from "vitest";
import type { Pod, PodSpec } from "./gen/types.ts";
import { amountsOf, computeRequests } from "./pod-requests.ts";

interface PodOptions extends Partial<PodSpec> {
  requests: Record<string, string>;
  status?: NonNullable<Pod["status"]>;
}

const pod = ({ requests, status, ...spec }: PodOptions): Pod => {
  const containers = [{ name: "main", image: "i", resources: { requests } }];
  return { spec: { containers, ...spec }, ...(status && { status }) };
};

test("amounts are millicores and whole units, without what is nothing", () => {
  expect([...amountsOf({ cpu: "0.25", memory: "1Ki", "example.com/gpu": "2", "hugepages-2Mi": "0" })]).toEqual([
    ["cpu", 250n],
    ["memory", 1024n],
    ["example.com/gpu", 2n],
  ]);
});

test("init containers, sidecars and overhead count as the node counts them", () => {
  const requests = computeRequests(
    pod({
      requests: { cpu: "1" },
      overhead: { cpu: "100m" },
      initContainers: [
        { name: "side", restartPolicy: "Always", resources: { requests: { cpu: "500m" } } },
        { name: "init", resources: { requests: { cpu: "2" } } },
      ],
    }),
  );
  expect(requests.get("cpu")).toBe(2_600n);
});

test.each([
  ["grows", "2", "1", 2_000n],
  ["shrinks and has not yet", "1", "2", 2_000n],
])("a pod that %s takes the larger of both", (_case, wanted, actual, expected) => {
  const status = {
    phase: "Running",
    containerStatuses: [
      { name: "main", image: "i", imageID: "", ready: true, restartCount: 0, resources: { requests: { cpu: actual } } },
    ],
  };
  expect(computeRequests(pod({ nodeName: "n1", requests: { cpu: wanted }, status })).get("cpu")).toBe(expected);
});

test("a pod that shrinks as a whole keeps what it has until its node says otherwise", () => {
  const resized = (has: string) =>
    pod({
      requests: { cpu: "1" },
      nodeName: "n",
      resources: { requests: { cpu: "2" } },
      status: { resources: { requests: { cpu: has, memory: "1Gi" } }, allocatedResources: { cpu: "2" } },
    });
  expect([...computeRequests(resized("4"))]).toEqual([["cpu", 4_000n]]);
  expect([...computeRequests(resized("1"))]).toEqual([["cpu", 2_000n]]);
});
