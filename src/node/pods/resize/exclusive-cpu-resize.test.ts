import { expect, it } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import { findExclusiveCpuResize } from "./exclusive-cpu-resize.ts";

function podOf(cpu: string, memory: string, limits?: Record<string, string>): Pod {
  const requests = { cpu, memory };
  return { spec: { containers: [{ name: "main", resources: { requests, limits: limits ?? requests } }] } };
}

it("refuses another amount of CPU to a Guaranteed pod, in upstream's words", () => {
  expect(findExclusiveCpuResize(podOf("3", "1Gi"), podOf("2", "1Gi"))).toEqual({
    reason: "Infeasible",
    message: 'Resize is infeasible for Guaranteed Pods alongside CPU Manager policy "static"',
  });
});

it.each([
  ["other memory", podOf("2", "2Gi"), podOf("2000m", "1Gi")],
  ["another class of pod", podOf("3", "1Gi", { cpu: "4" }), podOf("2", "1Gi", { cpu: "4" })],
])("leaves %s to others", (_what, pod, granted) => {
  expect(findExclusiveCpuResize(pod, granted)).toBeUndefined();
});
