import { expect, it } from "vitest";
import { computeNodeConditions } from "./node-conditions.ts";

const T0 = Date.UTC(2026, 0, 1);

it.each([
  [[], "True", "KubeletReady", "kubelet is posting ready status"],
  [["runtime is down"], "False", "KubeletNotReady", "runtime is down"],
  [["a", "b"], "False", "KubeletNotReady", "[a, b]"],
  [["a", "a"], "False", "KubeletNotReady", "a"],
])("with the errors %o the node is ready: %s", (errors, status, reason, message) => {
  const conditions = computeNodeConditions({ errors, previous: [], now: T0 });
  const time = "2026-01-01T00:00:00Z";
  expect(conditions).toEqual([
    { type: "Ready", status, reason, message, lastHeartbeatTime: time, lastTransitionTime: time },
  ]);
});

it("keeps the time of the last change while only the message changes", () => {
  const first = computeNodeConditions({ errors: ["a"], previous: [], now: T0 });
  const second = computeNodeConditions({ errors: ["b"], previous: first, now: T0 + 60_000 });
  expect(second).toMatchObject([
    { message: "b", lastHeartbeatTime: "2026-01-01T00:01:00Z", lastTransitionTime: "2026-01-01T00:00:00Z" },
  ]);
  const third = computeNodeConditions({ errors: [], previous: second, now: T0 + 120_000 });
  expect(third).toMatchObject([{ status: "True", lastTransitionTime: "2026-01-01T00:02:00Z" }]);
});

it.each([
  ["memory", "MemoryPressure", "KubeletHasInsufficientMemory", "kubelet has insufficient memory available"],
  ["disk", "DiskPressure", "KubeletHasDiskPressure", "kubelet has disk pressure"],
  ["pid", "PIDPressure", "KubeletHasInsufficientPID", "kubelet has insufficient PID available"],
])("tells that the node is short of %s, and of nothing else", (kind, type, reason, message) => {
  const pressure = { memory: false, disk: false, pid: false, [kind]: true };
  const conditions = computeNodeConditions({ errors: [], pressure, previous: [], now: T0 });
  expect(conditions.filter(({ status }) => status === "True").map((condition) => condition.type)).toEqual([
    type,
    "Ready",
  ]);
  expect(conditions).toContainEqual(expect.objectContaining({ type, reason, message }));
});

it("judges each condition in its place and leaves those of others alone", () => {
  const previous = [
    { type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" },
    { type: "NetworkUnavailable", status: "False" },
  ];
  const pressure = { memory: false, disk: false, pid: false };
  const conditions = computeNodeConditions({ errors: [], pressure, previous, now: T0 });
  expect(conditions.map(({ type }) => type)).toEqual([
    "Ready",
    "NetworkUnavailable",
    "MemoryPressure",
    "DiskPressure",
    "PIDPressure",
  ]);
  expect(conditions[0]).toMatchObject({ status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" });
  expect(conditions[1]).toEqual(previous[1]);
});
