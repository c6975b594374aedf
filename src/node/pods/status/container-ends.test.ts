import { expect, it } from "vitest";
import type { ContainerStatus, Pod } from "../../../api/gen/types.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { countContainerEnds } from "./container-ends.ts";
import { createPodStatuses } from "./pod-statuses.ts";

const pod: Pod = {
  metadata: { uid: "uid-1", name: "web", namespace: "default" },
  spec: { restartPolicy: "Always", containers: [{ name: "main" }] },
};

const of = (name: string, state: NonNullable<ContainerStatus["state"]>, restartCount = 0): ContainerStatus => ({
  name,
  image: "busybox",
  imageID: "",
  ready: false,
  restartCount,
  state,
});

it("counts each end of a container once, by kind, code and reason", async () => {
  const metrics = createMetrics();
  const statuses = createPodStatuses({ clock: createFakeClock() });
  countContainerEnds(metrics, statuses);
  const failed = { terminated: { exitCode: 3, reason: "Error" } };
  const running = { running: { startedAt: "2026-01-01T00:00:00Z" } };
  for (const [init, main] of [
    [running, { waiting: { reason: "PodInitializing" } }],
    [{ terminated: { exitCode: 0, reason: "Completed" } }, running],
    [{ terminated: { exitCode: 0, reason: "Completed" } }, failed],
    // The same end once more, in a status that differs elsewhere.
    [{ terminated: { exitCode: 0, reason: "Completed", message: "done" } }, failed],
    [{ terminated: { exitCode: 0, reason: "Completed", message: "done" } }, running],
    [{ terminated: { exitCode: 0, reason: "Completed", message: "done" } }, failed],
  ] as const) {
    statuses.set(pod, {
      phase: "Running",
      initContainerStatuses: [of("setup", init)],
      containerStatuses: [of("main", main)],
    });
  }
  const lines = (await metrics.render()).split("\n").filter((line) => line.startsWith("kubelet_terminated"));
  expect(lines).toEqual([
    'kubelet_terminated_containers_total{container_type="init_container",exit_code="0",reason="Completed"} 1',
    'kubelet_terminated_containers_total{container_type="container",exit_code="3",reason="Error"} 2',
  ]);
});

it("does not count what the API said before this node agent began", async () => {
  const metrics = createMetrics();
  const statuses = createPodStatuses({ clock: createFakeClock() });
  countContainerEnds(metrics, statuses);
  const status = { phase: "Succeeded", containerStatuses: [of("main", { terminated: { exitCode: 0 } })] };
  statuses.set({ ...pod, status }, { ...status, hostIP: "10.0.0.1" });
  expect(await metrics.render()).not.toContain("kubelet_terminated_containers_total{");
});
