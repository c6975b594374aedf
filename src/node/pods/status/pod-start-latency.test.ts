import { expect, it } from "vitest";
import type { Pod, PodStatus } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { formatTime } from "../../../base/clock.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { createTimeline } from "../../../base/timeline.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createPodStartLatency } from "./pod-start-latency.ts";

const running = (startedAt: string) => ({
  containerStatuses: [
    { name: "main", image: "", imageID: "", ready: true, restartCount: 0, state: { running: { startedAt } } },
  ],
});

function setUp() {
  const clock = createFakeClock();
  const timeline = createTimeline(clock);
  const metrics = createMetrics();
  const latency = createPodStartLatency({ clock, metrics, timeline, uidOf: podUid });
  const createdAt = clock.now();
  const make = (uid: string, status: PodStatus, spec: Partial<NonNullable<Pod["spec"]>> = {}): Pod => ({
    metadata: { uid, name: uid, namespace: "default", creationTimestamp: formatTime(createdAt) },
    spec: { containers: [{ name: "main" }], ...spec },
    status,
  });
  const say = (uid: string, reason: string) =>
    timeline.record({ uid, name: uid, namespace: "default" }, { type: "Normal", reason, message: reason });
  const values = async () => {
    const lines = (await metrics.render()).split("\n").filter((line) => /_(sum|count) |first_network.* \d/.test(line));
    return Object.fromEntries(lines.map((line) => line.replace("kubelet_", "").split(" ")));
  };
  return { clock, latency, make, say, values };
}

it("tells the time since the creation, and without pulls and init containers", async () => {
  const { clock, latency, make, say, values } = setUp();
  const spec = { initContainers: [{ name: "setup" }, { name: "sidecar", restartPolicy: "Always" }] };
  latency.show(make("a", { phase: "Pending" }, spec));
  say("a", "Pulling");
  await clock.advance(2_000);
  // A pull that fails is made again, and the wait between is of the pull.
  say("a", "Failed");
  await clock.advance(1_000);
  say("a", "Pulling");
  await clock.advance(1_000);
  say("a", "Pulled");
  const ended = { startedAt: formatTime(clock.now()), finishedAt: formatTime(clock.now() + 3_000), exitCode: 0 };
  await clock.advance(6_000);
  const init = (name: string) => ({
    name,
    image: "",
    imageID: "",
    ready: true,
    restartCount: 0,
    state: { terminated: ended },
  });
  const status = { ...running(formatTime(clock.now())), initContainerStatuses: [init("setup"), init("sidecar")] };
  const startTime = formatTime(clock.now());
  latency.show(make("a", { phase: "Pending", startTime }, spec));
  latency.show(make("a", { phase: "Running", startTime, ...status }, spec));
  latency.show(make("a", { phase: "Running", startTime, ...status, message: "again" }, spec));
  expect(await values()).toEqual({
    pod_start_total_duration_seconds_sum: "10",
    pod_start_total_duration_seconds_count: "1",
    pod_start_sli_duration_seconds_sum: "3",
    pod_start_sli_duration_seconds_count: "1",
    first_network_pod_start_sli_duration_seconds: "3",
  });
  expect(latency.podUids()).toEqual([]);
});

it.each<[string, Partial<NonNullable<Pod["spec"]>>, string]>([
  ["a pod with a volume that others bring", { volumes: [{ name: "data", hostPath: { path: "/data" } }] }, "0"],
  ["one whose volumes are the node's own", { volumes: [{ name: "data", emptyDir: {} }] }, "1"],
])("%s counts for the promise %s", async (_what, spec, count) => {
  const { clock, latency, make, values } = setUp();
  latency.show(make("a", { phase: "Pending" }, spec));
  latency.show(make("a", { phase: "Running", ...running(formatTime(clock.now())) }, spec));
  expect(await values()).toMatchObject({
    pod_start_total_duration_seconds_count: "1",
    pod_start_sli_duration_seconds_count: count,
  });
});

it.each<[string, PodStatus]>([
  ["ran before this agent did", { phase: "Running", startTime: "2026-01-01T00:00:00Z" }],
  ["has ended", { phase: "Succeeded" }],
  ["found no node at first", { conditions: [{ type: "PodScheduled", status: "False" }] }],
])("a pod that %s is not followed", (_what, status) => {
  const { latency, make } = setUp();
  latency.show(make("a", status));
  expect(latency.podUids()).toEqual([]);
});

it("a pod that ends or goes before it has started is forgotten", () => {
  const { latency, make } = setUp();
  for (const uid of ["a", "b"]) latency.show(make(uid, { phase: "Pending" }));
  expect(latency.podUids()).toEqual(["a", "b"]);
  latency.show(make("a", { phase: "Failed" }));
  latency.forget("b");
  expect(latency.podUids()).toEqual([]);
});

it("a pod of which not every container runs has not started", async () => {
  const { clock, latency, make, values } = setUp();
  const spec = { containers: [{ name: "main" }, { name: "other" }] };
  latency.show(make("a", { phase: "Pending" }, spec));
  latency.show(make("a", { phase: "Pending", ...running(formatTime(clock.now())) }, spec));
  latency.show(make("a", { phase: "Pending", containerStatuses: [] }, spec));
  expect(await values()).toMatchObject({ pod_start_total_duration_seconds_count: "0" });
});
