import { expect, it } from "vitest";
import type { Pod, ResourceRequirements } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createResizeGauges, createResizeMetrics } from "./resize-metrics.ts";

const NAMES =
  /^kubelet_(container_requested_resizes|pod_(pending|in_progress|infeasible|deferred_accepted)_resizes)[^ ]* [1-9]/;

const podOf = (uid: string, resources: ResourceRequirements = {}): Pod => ({
  metadata: { uid },
  spec: {
    containers: [{ name: "main", resources }],
    initContainers: [{ name: "side", restartPolicy: "Always", resources }],
  },
});

async function readSeries(metrics: ReturnType<typeof createMetrics>): Promise<string[]> {
  const lines = (await metrics.render()).split("\n").filter((line) => NAMES.test(line));
  return lines.map((line) => line.replace("kubelet_", "")).toSorted();
}

it("counts each amount of each container that changes, and nothing of pods that are new", async () => {
  const metrics = createMetrics();
  const { see } = createResizeMetrics(metrics);
  const isNamed = () => true;
  see([podOf("a", { requests: { cpu: "1", memory: "1Gi" }, limits: { memory: "1Gi" } })], isNamed);
  see([podOf("a", { requests: { cpu: "1000m", memory: "2Gi" }, limits: { cpu: "2" } })], isNamed);
  const requested = "container_requested_resizes_total";
  expect(await readSeries(metrics)).toEqual([
    `${requested}{resource="cpu",requirement="limits",operation="add"} 2`,
    `${requested}{resource="memory",requirement="limits",operation="remove"} 2`,
    `${requested}{resource="memory",requirement="requests",operation="increase"} 2`,
  ]);
});

it("says what may have made room", () => {
  const { see } = createResizeMetrics(createMetrics());
  const named = new Set(["a", "b", "c"]);
  const isNamed = (uid: string) => named.has(uid);
  const small = podOf("a", { requests: { cpu: "1" } });
  expect(see([small], isNamed)).toBe("pods_added");
  expect(see([small], isNamed)).toBe("pod_resized");
  expect(see([podOf("a", { requests: { cpu: "2" } })], isNamed)).toBe("pod_updated");
  expect(see([small, podOf("b"), podOf("c")], isNamed)).toBe("pods_added");
  expect(see([small, podOf("b")], isNamed)).toBe("pod_terminated");
  named.delete("b");
  expect(see([small], isNamed)).toBe("pods_removed");
});

it("shows how many wait, by reason, and how many are under way", async () => {
  const metrics = createMetrics();
  const show = createResizeGauges(metrics);
  const pending = (reason: string) => ({ type: "PodResizePending", status: "True", reason });
  const inProgress = { type: "PodResizeInProgress", status: "True" };
  show([[pending("Deferred"), inProgress], [pending("Deferred")], [pending("Infeasible")]]);
  expect(await readSeries(metrics)).toEqual([
    "pod_in_progress_resizes 1",
    'pod_pending_resizes{reason="deferred"} 2',
    'pod_pending_resizes{reason="infeasible"} 1',
  ]);
  show([]);
  expect(await readSeries(metrics)).toEqual([]);
});
