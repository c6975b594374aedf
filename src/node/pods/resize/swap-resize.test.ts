import { expect, it } from "vitest";
import type { Container, Pod } from "../../../api/gen/types.ts";
import { TEST_NODE } from "../../runtime/config/__fixtures__/node.ts";
import { findSwapResize } from "./swap-resize.ts";

const NODE = {
  ...TEST_NODE,
  cgroupVersion: 2 as const,
  swap: { controllerAvailable: true, behavior: "LimitedSwap" as const, capacityBytes: 1024n ** 3n },
};

function podOf(memory: string, more: Partial<Container> = {}): Pod {
  return {
    spec: { containers: [{ name: "main", resources: { requests: { memory }, limits: { cpu: "1" } }, ...more }] },
  };
}

it("refuses another amount of memory to a container with swap, in upstream's words", () => {
  expect(findSwapResize(podOf("2Gi"), podOf("1Gi"), NODE)).toEqual({
    reason: "Infeasible",
    message: "In-place resize of containers with swap is not supported.",
    detail: "swap_limitation",
  });
});

it.each([
  ["the same memory", podOf("1024Mi"), podOf("1Gi"), NODE],
  [
    "a container without swap",
    podOf("2Gi"),
    podOf("1Gi"),
    { ...NODE, swap: { ...NODE.swap, behavior: "NoSwap" as const } },
  ],
  [
    "a container that is started anew for it",
    podOf("2Gi"),
    podOf("1Gi", { resizePolicy: [{ resourceName: "memory", restartPolicy: "RestartContainer" }] }),
    NODE,
  ],
  ["a container that was not there", podOf("2Gi"), { spec: { containers: [] } }, NODE],
])("leaves %s to others", (_what, pod, granted, node) => {
  expect(findSwapResize(pod, granted, node)).toBeUndefined();
});
