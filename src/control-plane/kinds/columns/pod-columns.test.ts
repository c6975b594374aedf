import { expect, test } from "vitest";
import type { ContainerStatus, Pod } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";
import { cellOf } from "../../ports/resource-kind.ts";
import { POD_COLUMNS } from "./pod-columns.ts";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const minutesAgo = (minutes: number) => formatTime(NOW - minutes * 60_000);

function cellsOf(pod: Pod): Record<string, unknown> {
  const object = { apiVersion: "v1", kind: "Pod", ...pod, metadata: { name: "a", ...pod.metadata } };
  return Object.fromEntries(POD_COLUMNS.map((column) => [column.name, cellOf(column, object, NOW)]));
}

const status = (name: string, rest: Partial<ContainerStatus> = {}): ContainerStatus => {
  return { name, image: "i", imageID: "", ready: false, restartCount: 0, ...rest };
};
const running = (name: string, rest: Partial<ContainerStatus> = {}) => {
  return status(name, { ready: true, started: true, state: { running: { startedAt: minutesAgo(1) } }, ...rest });
};
const ended = (name: string, exitCode: number, reason = "", signal = 0) => {
  return status(name, { state: { terminated: { exitCode, reason, signal } } });
};
const waiting = (name: string, reason: string) => status(name, { state: { waiting: { reason } } });
const crashed = (minutes: number) => ({ terminated: { exitCode: 1, finishedAt: minutesAgo(minutes) } });

const SIDECAR = { name: "proxy", restartPolicy: "Always" };
const TWO = { containers: [{ name: "x" }, { name: "y" }] };
const INIT = { ...TWO, initContainers: [{ name: "i" }, { name: "j" }] };
const WITH_SIDECAR = { ...TWO, initContainers: [SIDECAR] };

test.each<[string, Pod, { Ready: string; Status: string; Restarts: string }]>([
  ["of a phase only", { spec: TWO, status: { phase: "Pending" } }, { Ready: "0/2", Status: "Pending", Restarts: "0" }],
  [
    "with a reason",
    { spec: TWO, status: { phase: "Failed", reason: "Evicted" } },
    { Ready: "0/2", Status: "Evicted", Restarts: "0" },
  ],
  [
    "that a gate keeps from being scheduled",
    {
      spec: TWO,
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    },
    { Ready: "0/2", Status: "SchedulingGated", Restarts: "0" },
  ],
  [
    "that runs",
    { spec: TWO, status: { phase: "Running", containerStatuses: [running("x"), running("y", { ready: false })] } },
    { Ready: "1/2", Status: "Running", Restarts: "0" },
  ],
  [
    "whose first container that has something to say is heard",
    {
      spec: TWO,
      status: { phase: "Running", containerStatuses: [waiting("x", "CrashLoopBackOff"), ended("y", 1, "Error")] },
    },
    { Ready: "0/2", Status: "CrashLoopBackOff", Restarts: "0" },
  ],
  [
    "that was killed",
    { spec: TWO, status: { phase: "Failed", containerStatuses: [ended("x", 137, "", 9)] } },
    { Ready: "0/2", Status: "Signal:9", Restarts: "0" },
  ],
  [
    "that ended without a reason",
    { spec: TWO, status: { phase: "Failed", containerStatuses: [ended("x", 3)] } },
    { Ready: "0/2", Status: "ExitCode:3", Restarts: "0" },
  ],
  [
    "one container of which is done",
    {
      spec: TWO,
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [ended("x", 0, "Completed"), running("y")],
      },
    },
    { Ready: "1/2", Status: "Running", Restarts: "0" },
  ],
  [
    "one container of which is done while the pod is not ready",
    { spec: TWO, status: { phase: "Running", containerStatuses: [ended("x", 0, "Completed"), running("y")] } },
    { Ready: "1/2", Status: "NotReady", Restarts: "0" },
  ],
  [
    "that restarted",
    {
      spec: TWO,
      status: {
        phase: "Running",
        containerStatuses: [
          running("x", { restartCount: 2, lastState: crashed(7) }),
          running("y", { restartCount: 1, lastState: crashed(5) }),
        ],
      },
    },
    { Ready: "2/2", Status: "Running", Restarts: "3 (5m ago)" },
  ],
  [
    "in its second init container",
    {
      spec: INIT,
      status: {
        phase: "Pending",
        initContainerStatuses: [ended("i", 0, "Completed"), running("j", { ready: false })],
        containerStatuses: [waiting("x", "PodInitializing"), waiting("y", "PodInitializing")],
      },
    },
    { Ready: "0/2", Status: "Init:1/2", Restarts: "0" },
  ],
  [
    "whose init container cannot start",
    {
      spec: INIT,
      status: {
        phase: "Pending",
        initContainerStatuses: [waiting("i", "ErrImagePull"), waiting("j", "PodInitializing")],
      },
    },
    { Ready: "0/2", Status: "Init:ErrImagePull", Restarts: "0" },
  ],
  [
    "whose init container failed",
    {
      spec: INIT,
      status: { phase: "Failed", initContainerStatuses: [ended("i", 2), waiting("j", "PodInitializing")] },
    },
    { Ready: "0/2", Status: "Init:ExitCode:2", Restarts: "0" },
  ],
  [
    "whose init container was killed",
    { spec: INIT, status: { phase: "Failed", initContainerStatuses: [ended("i", 137, "", 9)] } },
    { Ready: "0/2", Status: "Init:Signal:9", Restarts: "0" },
  ],
  [
    "whose init container crashes",
    {
      spec: INIT,
      status: {
        phase: "Pending",
        initContainerStatuses: [
          status("i", { restartCount: 4, lastState: crashed(3), state: { waiting: { reason: "CrashLoopBackOff" } } }),
        ],
      },
    },
    { Ready: "0/2", Status: "Init:CrashLoopBackOff", Restarts: "4 (3m ago)" },
  ],
  [
    "that forgets the restarts of init containers, and keeps those of sidecars",
    {
      spec: { ...TWO, initContainers: [{ name: "i" }, SIDECAR] },
      status: {
        phase: "Running",
        initContainerStatuses: [
          { ...ended("i", 0, "Completed"), restartCount: 5, lastState: crashed(9) },
          running("proxy", { restartCount: 1, lastState: crashed(20) }),
        ],
        containerStatuses: [running("x"), running("y")],
      },
    },
    { Ready: "3/3", Status: "Running", Restarts: "1 (20m ago)" },
  ],
  [
    "whose sidecar has not started yet",
    {
      spec: WITH_SIDECAR,
      status: {
        phase: "Pending",
        initContainerStatuses: [status("proxy", { state: { running: {} }, started: false })],
      },
    },
    { Ready: "0/3", Status: "Init:0/1", Restarts: "0" },
  ],
  [
    "whose sidecar crashes after initialization",
    {
      spec: WITH_SIDECAR,
      status: {
        phase: "Running",
        conditions: [{ type: "Initialized", status: "True" }],
        initContainerStatuses: [waiting("proxy", "CrashLoopBackOff")],
        containerStatuses: [running("x"), running("y")],
      },
    },
    { Ready: "2/3", Status: "Init:CrashLoopBackOff", Restarts: "0" },
  ],
  [
    "that is being deleted",
    {
      metadata: { deletionTimestamp: minutesAgo(0) },
      spec: TWO,
      status: { phase: "Running", containerStatuses: [running("x")] },
    },
    { Ready: "1/2", Status: "Terminating", Restarts: "0" },
  ],
  [
    "that is being deleted and is over",
    {
      metadata: { deletionTimestamp: minutesAgo(0) },
      spec: TWO,
      status: { phase: "Succeeded", containerStatuses: [ended("x", 0, "Completed")] },
    },
    { Ready: "0/2", Status: "Completed", Restarts: "0" },
  ],
  [
    "whose node is lost",
    { metadata: { deletionTimestamp: minutesAgo(0) }, spec: TWO, status: { phase: "Running", reason: "NodeLost" } },
    { Ready: "0/2", Status: "Unknown", Restarts: "0" },
  ],
])("a pod %s", (_name, pod, expected) => {
  expect(cellsOf(pod)).toMatchObject(expected);
});

test("a pod with everything that wide output shows", () => {
  const pod: Pod = {
    metadata: { creationTimestamp: minutesAgo(90) },
    spec: { ...TWO, nodeName: "n", readinessGates: [{ conditionType: "a/b" }, { conditionType: "c/d" }] },
    status: {
      phase: "Running",
      podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }],
      nominatedNodeName: "m",
      conditions: [
        { type: "a/b", status: "True" },
        { type: "c/d", status: "False" },
      ],
    },
  };
  expect(cellsOf(pod)).toMatchObject({
    Name: "a",
    Age: "90m",
    IP: "10.0.0.1",
    Node: "n",
    "Nominated Node": "m",
    "Readiness Gates": "1/2",
  });
});

test("a pod without any of it", () => {
  const none = { IP: "<none>", Node: "<none>", "Nominated Node": "<none>", "Readiness Gates": "<none>" };
  expect(cellsOf({ spec: TWO })).toMatchObject({ ...none, Age: "<unknown>", Status: "" });
});

test("wide output alone has the last four columns", () => {
  const wide = POD_COLUMNS.filter(({ priority }) => priority === 1).map(({ name }) => name);
  expect(wide).toEqual(["IP", "Node", "Nominated Node", "Readiness Gates"]);
});
