import { describe, expect, it } from "vitest";
import { makeContainer, makeRuntimeStatus, makeSandbox } from "./__fixtures__/runtime-status.ts";
import { planContainerRemovals, planSandboxRemovals } from "./container-removals.ts";
import type { PodActions } from "./pod-actions.ts";

function makeActions(...starting: string[]): PodActions {
  const containersToStart = starting.map((name) => ({
    container: { name },
    kind: "main" as const,
    restartCount: 1,
    previousEndedAt: undefined,
  }));
  const nothing = {
    killPod: undefined,
    createSandbox: undefined,
    sandboxId: undefined,
    restartOfAll: undefined,
    resize: undefined,
  };
  return { ...nothing, containersToKill: [], containersToStart, backingOff: [] };
}

describe("dead containers", () => {
  const exited = (restartCount: number) => makeContainer("main exited:1", { restartCount });
  it.each([
    ["the newest and the one before it stay", [exited(3), exited(2), exited(1), exited(0)], [], ["main-1", "main-0"]],
    ["what is about to start counts as the newest", [exited(2), exited(1), exited(0)], ["main"], ["main-1", "main-0"]],
    ["what runs is never removed", [exited(2), exited(1), makeContainer("main running")], [], []],
    ["every name counts for itself", [exited(0), makeContainer("other exited:1")], [], []],
  ])("%s", (_name, containers, starting, expected) => {
    const removals = planContainerRemovals(makeRuntimeStatus(containers), makeActions(...starting));
    expect(removals.map(({ id }) => id)).toEqual(expected);
  });
});

describe("old sandboxes", () => {
  const stopped = (attempt: number) => makeSandbox({ attempt, state: "notready" });
  const dead = makeContainer("main exited:1", { sandboxId: "sandbox-1" });
  it("go when nothing in them is kept", () => {
    const status = makeRuntimeStatus([dead], [makeSandbox({ attempt: 2 }), stopped(1), stopped(0)]);
    expect(planSandboxRemovals(status, []).map(({ id }) => id)).toEqual(["sandbox-0"]);
    expect(planSandboxRemovals(status, [dead]).map(({ id }) => id)).toEqual(["sandbox-1", "sandbox-0"]);
  });

  it("stay while they are ready, or the newest", () => {
    expect(planSandboxRemovals(makeRuntimeStatus([], [stopped(1), makeSandbox({ attempt: 0 })]), [])).toEqual([]);
    expect(planSandboxRemovals(makeRuntimeStatus([], [stopped(0)]), [])).toEqual([]);
  });
});
