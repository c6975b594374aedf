import { describe, expect, it } from "vitest";
import type { NodeStatus } from "../../../api/gen/types.ts";
import { computeNodeEvents, computeSchedulingEvent, withoutPressure } from "./node-events.ts";

const conditions = (words: Record<string, string>): NodeStatus => ({
  conditions: Object.entries(words).map(([type, status]) => ({ type, status })),
});
const reasons = (before: NodeStatus, after: NodeStatus) =>
  computeNodeEvents("n", before, after).map(({ type, reason }) => `${type} ${reason}`);

it.each([
  ["MemoryPressure", "NodeHasInsufficientMemory", "NodeHasSufficientMemory"],
  ["DiskPressure", "NodeHasDiskPressure", "NodeHasNoDiskPressure"],
  ["PIDPressure", "NodeHasInsufficientPID", "NodeHasSufficientPID"],
  ["Ready", "NodeReady", "NodeNotReady"],
])("tells of each change of %s", (type, whenTrue, whenFalse) => {
  expect(reasons(conditions({ [type]: "False" }), conditions({ [type]: "True" }))).toEqual([`Normal ${whenTrue}`]);
  expect(reasons(conditions({ [type]: "Unknown" }), conditions({ [type]: "False" }))).toEqual([`Normal ${whenFalse}`]);
  expect(reasons(conditions({ [type]: "True" }), conditions({ [type]: "True" }))).toEqual([]);
});

it("tells of pressure that was never judged before, and not of a first readiness", () => {
  const all = conditions({ MemoryPressure: "False", DiskPressure: "False", PIDPressure: "False", Ready: "True" });
  const told = ["Normal NodeHasSufficientMemory", "Normal NodeHasNoDiskPressure", "Normal NodeHasSufficientPID"];
  expect(reasons({}, all)).toEqual(told);
  expect(reasons(withoutPressure(all), all)).toEqual(told);
  expect(withoutPressure(all).conditions?.map(({ type }) => type)).toEqual(["Ready"]);
});

it("words them as upstream does", () => {
  expect(computeNodeEvents("n", conditions({ Ready: "False" }), conditions({ Ready: "True" }))).toEqual([
    { type: "Normal", reason: "NodeReady", message: "Node n status is now: NodeReady" },
  ]);
});

describe("a reboot", () => {
  const booted = (bootID: string): NodeStatus => ({
    nodeInfo: {
      bootID,
      architecture: "",
      containerRuntimeVersion: "",
      kernelVersion: "",
      kubeletVersion: "",
      kubeProxyVersion: "",
      machineID: "",
      operatingSystem: "",
      osImage: "",
      systemUUID: "",
    },
  });
  it("is another boot id", () => {
    expect(computeNodeEvents("n", booted("a"), booted("b"))).toEqual([
      { type: "Warning", reason: "Rebooted", message: "Node n has been rebooted, boot id: b" },
    ]);
  });
  it.each([
    ["a", "a"],
    ["", "b"],
    ["a", ""],
  ])("is not from %j to %j", (before, after) => {
    expect(computeNodeEvents("n", booted(before), booted(after))).toEqual([]);
  });
});

it.each([
  [true, false, "NodeNotSchedulable"],
  [undefined, true, "NodeSchedulable"],
  [true, true, undefined],
  [false, false, undefined],
])("tells when somebody cordons the node: unschedulable %s after %s", (unschedulable, was, reason) => {
  const node = { metadata: { name: "n" }, spec: unschedulable === undefined ? {} : { unschedulable } };
  expect(computeSchedulingEvent(node, was)?.reason).toBe(reason);
});
