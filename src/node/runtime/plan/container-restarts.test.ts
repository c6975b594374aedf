import { describe, expect, test } from "vitest";
import type { Container, ContainerRestartRule, Pod } from "../../../api/gen/types.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import {
  describeActions,
  makeContainer,
  makePod,
  makeRuntimeStatus,
  makeSandbox,
} from "./__fixtures__/runtime-status.ts";
import { computePodActions } from "./compute-pod-actions.ts";
import type { PlanInput } from "./plan-input.ts";
import { findRestartRule } from "./restart-policy.ts";

const rule = (operator: string, values: number[], action = "Restart"): ContainerRestartRule => ({
  action,
  exitCodes: { operator, values },
});

/** The pod with the given fields in its containers. */
function withFields(pod: Pod, fields: Record<string, Partial<Container>>): Pod {
  const complete = (container: Container) => ({ ...container, ...fields[container.name] });
  const { containers = [], initContainers = [], ...spec } = pod.spec ?? {};
  return {
    ...pod,
    spec: { ...spec, containers: containers.map(complete), initContainers: initContainers.map(complete) },
  };
}

function plan(pod: Pod, status: PodRuntimeStatus, overrides: Partial<PlanInput> = {}) {
  return computePodActions({
    pod,
    status,
    now: 10_000,
    waitUntil: () => undefined,
    isSameContainer: () => true,
    verdictOf: () => ({ started: true, failed: undefined }),
    ...overrides,
  });
}

const over = "kill nothing-left-to-run";
const again = "start main#1";

describe("a main container's own policy", () => {
  test.each<[own: Partial<Container>, pod: string, state: string, expected: string]>([
    [{ restartPolicy: "Never" }, "Always", "exited:1", over],
    [{ restartPolicy: "OnFailure" }, "Always", "exited:0", over],
    [{ restartPolicy: "OnFailure" }, "Never", "exited:1", again],
    [{ restartPolicy: "Always" }, "Never", "exited:0", again],
    [{ restartPolicy: "Never", restartPolicyRules: [rule("In", [42])] }, "Never", "exited:42", again],
    [{ restartPolicy: "Never", restartPolicyRules: [rule("In", [42])] }, "Never", "exited:1", over],
    [{ restartPolicy: "Never", restartPolicyRules: [rule("NotIn", [0])] }, "Always", "exited:1", again],
    [{ restartPolicy: "Never", restartPolicyRules: [rule("NotIn", [0])] }, "Always", "exited:0", over],
    [{ restartPolicy: "Always", restartPolicyRules: [rule("In", [42])] }, "Never", "exited:1", again],
  ])("%j in a pod of %s, %s: %s", (own, restartPolicy, state, expected) => {
    const pod = withFields(makePod({ restartPolicy }), { main: own });
    expect(describeActions(plan(pod, makeRuntimeStatus([`main ${state}`])))).toBe(expected);
  });

  test.each<[own: string | undefined, pod: string, expected: string]>([
    [undefined, "Never", over],
    ["Never", "Always", over],
    ["OnFailure", "Never", "stop main-0; start main#1"],
  ])("decides after a failed probe, and rules do not: %s in a pod of %s", (own, restartPolicy, expected) => {
    const fields = { ...(own && { restartPolicy: own }), restartPolicyRules: [rule("NotIn", [0])] };
    const pod = withFields(makePod({ restartPolicy }), { main: fields });
    const verdictOf = () => ({ started: true, failed: "liveness" as const });
    const actions = plan(pod, makeRuntimeStatus(["main running"]), { verdictOf });
    expect(describeActions(actions)).toBe(expected);
  });

  test.each<[pod: string, main: Partial<Container>, state: string, expected: string]>([
    ["Never", { restartPolicy: "Always" }, "running", "kill sandbox-not-ready; sandbox 1; start main#1"],
    ["Always", { restartPolicy: "Never" }, "running", "kill sandbox-not-ready"],
    ["Never", { restartPolicy: "OnFailure" }, "exited:0", ""],
    [
      "Never",
      { restartPolicy: "Never", restartPolicyRules: [rule("In", [137])] },
      "exited:137",
      "kill sandbox-not-ready; sandbox 1; start main#1",
    ],
  ])("decides when the sandbox is gone: a pod of %s, %j, %s", (restartPolicy, main, state, expected) => {
    const pod = withFields(makePod({ restartPolicy }), { main });
    const status = makeRuntimeStatus([`main ${state}`], [makeSandbox({ state: "notready" })]);
    expect(describeActions(plan(pod, status))).toBe(expected);
  });
});

describe("an init container's own policy", () => {
  test.each<[own: Partial<Container>, pod: string, state: string, expected: string]>([
    [{ restartPolicy: "Never" }, "Always", "exited:1", "kill initialization-failed"],
    [{ restartPolicy: "OnFailure" }, "Never", "exited:1", "start i#1"],
    [{ restartPolicy: "OnFailure" }, "Never", "exited:0", "start main#0"],
    [{ restartPolicy: "Never", restartPolicyRules: [rule("In", [3])] }, "Never", "exited:3", "start i#1"],
    [
      { restartPolicy: "Never", restartPolicyRules: [rule("In", [3])] },
      "Never",
      "unknown",
      "kill initialization-failed",
    ],
    [{ restartPolicy: "OnFailure" }, "Never", "unknown", "stop i-0; start i#1"],
  ])("%j in a pod of %s, %s: %s", (own, restartPolicy, state, expected) => {
    const pod = withFields(makePod({ restartPolicy, init: ["i"] }), { i: own });
    expect(describeActions(plan(pod, makeRuntimeStatus([`i ${state}`])))).toBe(expected);
  });
});

test("of the rules the first that the exit code meets counts", () => {
  const rules = [{ action: "Restart" }, rule("In", [1, 2], "RestartAllContainers"), rule("NotIn", [0])];
  const container = { name: "main", restartPolicyRules: rules };
  expect([0, 1, 2, 3].map((code) => findRestartRule(container, code)?.action)).toEqual([
    undefined,
    "RestartAllContainers",
    "RestartAllContainers",
    "Restart",
  ]);
});

describe("a rule that restarts all containers", () => {
  const all = { restartPolicy: "Never", restartPolicyRules: [rule("In", [88], "RestartAllContainers")] };
  const pod = withFields(makePod({ restartPolicy: "Never", init: ["i", "s*"], main: ["main", "w"] }), { w: all });
  const removed = (status: PodRuntimeStatus, overrides: Partial<PlanInput> = {}) =>
    plan(pod, status, overrides).restartOfAll?.containers.map(
      ({ container, stop }) => `${container.id}${stop ? " !" : ""}`,
    );
  const ended = ["w exited:88", "main running", "s running", "i exited:0"];

  test("removes main containers, then init containers, and last the one that exited", () => {
    const old = makeContainer("main exited:1", { restartCount: -1 });
    expect(removed(makeRuntimeStatus([...ended, old]))).toEqual(["main-0 !", "main--1", "i-0", "s-0 !", "w-0"]);
  });

  test("goes on with a removal that was cut off, and begins anew once nothing is left", () => {
    expect(removed(makeRuntimeStatus(["w exited:88"]))).toEqual(["w-0"]);
    expect(describeActions(plan(pod, makeRuntimeStatus([])))).toBe("start i#0");
  });

  test("does not fire for another exit code, in a sandbox of before, or for a pod that is being deleted", () => {
    expect(removed(makeRuntimeStatus(["w exited:1", "main running"]))).toBeUndefined();
    const before = makeRuntimeStatus(ended, [makeSandbox({ attempt: 1 })]);
    expect(removed(before)).toBeUndefined();
    const deleted = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(plan(deleted, makeRuntimeStatus(ended)).restartOfAll).toBeUndefined();
  });

  test("waits for the back-off of the container that exited, while the others run on", () => {
    const waitUntil = () => 20_000;
    expect(removed(makeRuntimeStatus(ended), { waitUntil })).toBeUndefined();
    expect(describeActions(plan(pod, makeRuntimeStatus(ended), { waitUntil }))).toBe("wait w");
  });
});
