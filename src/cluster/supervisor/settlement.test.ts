import { describe, expect, it } from "vitest";
import type { ContainerState, Pod } from "../../api/gen/types.ts";
import type { NodeReport, PodEvent } from "../status/node-report.ts";
import { computeSettlement } from "./settlement.ts";

const expected = [{ file: "web.yaml", namespace: "default", name: "web" }];
const RUNNING: ContainerState = { running: { startedAt: "2026-01-01T00:00:00Z" } };

function report(pods: Pod[], events: PodEvent[] = []): NodeReport {
  const node = { name: "node", conditions: [], runtime: { name: "containerd", version: "1.6.20" } };
  return { revision: "1", node, pods, events };
}

function pod(phase: string, state?: ContainerState, ready = state?.running !== undefined): Pod {
  const statuses = state && [{ name: "main", image: "x", imageID: "x", restartCount: 0, ready, state }];
  return {
    metadata: { name: "web-node", namespace: "default", uid: "1" },
    spec: { containers: [{ name: "main" }] },
    status: { phase, ...(statuses && { containerStatuses: statuses }) },
  };
}

const warning = (reason: string, message: string): PodEvent => {
  return {
    pod: { namespace: "default", name: "web-node", uid: "1" },
    type: "Warning",
    reason,
    message,
    at: "2026-01-01T00:00:00Z",
    count: 1,
  };
};

describe("computeSettlement", () => {
  it.each([
    ["runs and is ready", pod("Running", RUNNING)],
    ["has succeeded", pod("Succeeded", { terminated: { exitCode: 0 } })],
    ["has a container that is done while the pod runs on", pod("Running", { terminated: { exitCode: 0 } })],
  ])("is settled when the pod %s", (_, value) => {
    expect(computeSettlement(expected, report([value]))).toEqual({ settled: true, waiting: [], failed: [] });
  });

  it("waits for a pod that the node agent has not taken up, and names its file", () => {
    const { settled, waiting } = computeSettlement(expected, report([]));
    expect({ settled, waiting }).toEqual({
      settled: false,
      waiting: ["default/web-node (web.yaml) has not been taken up"],
    });
  });

  it.each([
    ["is not ready", pod("Running", RUNNING, false), "default/web-node is Running"],
    ["has no containers yet", pod("Pending"), "default/web-node is Pending"],
    [
      "backs off",
      pod("Running", { waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } }),
      "default/web-node is CrashLoopBackOff: back-off 10s",
    ],
  ])("waits for a pod that %s", (_, value, sentence) => {
    expect(computeSettlement(expected, report([value])).waiting).toEqual([sentence]);
  });

  it("explains by the last warning that says something about starting", () => {
    const events = [warning("FailedCreatePodSandBox", "no addresses left"), warning("MissingClusterDNS", "no DNS")];
    const value = pod("Pending", { waiting: { reason: "ContainerCreating" } });
    expect(computeSettlement(expected, report([value], events)).waiting).toEqual([
      "default/web-node is ContainerCreating: no addresses left",
    ]);
  });

  it.each([
    ["has failed", pod("Failed", { terminated: { exitCode: 1, reason: "Error" } })],
    ["may not pull its image", pod("Pending", { waiting: { reason: "ErrImageNeverPull" } })],
    ["names no image", pod("Pending", { waiting: { reason: "InvalidImageName" } })],
  ])("gives up on a pod that %s", (_, value) => {
    const { failed, waiting, settled } = computeSettlement(expected, report([value]));
    expect({ failed: failed.length, waiting, settled }).toEqual({ failed: 1, waiting: [], settled: false });
  });
});
