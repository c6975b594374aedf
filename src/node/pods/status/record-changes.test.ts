import { expect, it } from "vitest";
import type { ContainerStatus, Pod } from "../../../api/gen/types.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodStatuses } from "./pod-statuses.ts";
import { recordStatusChanges } from "./record-changes.ts";

const POD: Pod = {
  metadata: { uid: "u", name: "web", namespace: "default" },
  spec: { containers: [{ name: "main" }] },
};
const container = (more: Partial<ContainerStatus>): ContainerStatus => ({
  ...{ name: "main", image: "demo:1", imageID: "", ready: false, restartCount: 0 },
  ...more,
});
const ended = { exitCode: 137, reason: "OOMKilled", containerID: "containerd://one" };

it("records readiness, each end of a container once, and how the pod ended", () => {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const statuses = createPodStatuses({ clock });
  recordStatusChanges({ statuses, timeline });
  const ready = (status: "True" | "False") => [{ type: "Ready", status }];
  const running = { containerID: "containerd://one", state: { running: {} }, ready: true };
  statuses.set(POD, { phase: "Running", conditions: ready("True"), containerStatuses: [container(running)] });
  const dead = container({ ...running, ready: false, state: { terminated: ended } });
  statuses.set(POD, { phase: "Running", conditions: ready("False"), containerStatuses: [dead] });
  const again = container({ state: { running: {} }, lastState: { terminated: ended }, restartCount: 1 });
  statuses.set(POD, { phase: "Running", conditions: ready("False"), containerStatuses: [again] });
  const message = "Pod was active on the node longer than the specified deadline";
  statuses.set(POD, { phase: "Failed", reason: "DeadlineExceeded", message, conditions: ready("False") });
  expect(timeline.read("u").map(({ reason, message: words }) => `${reason}: ${words}`)).toEqual([
    "PodReady: Pod is ready",
    "Exited: Container ended with exit code 137: OOMKilled",
    "PodNotReady: Pod is not ready",
    `PodFailed: DeadlineExceeded: ${message}`,
  ]);
});
