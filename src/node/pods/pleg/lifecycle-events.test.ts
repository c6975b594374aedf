import { describe, expect, it } from "vitest";
import type { ContainerState, RuntimePod } from "../../runtime/reading/pod-runtime-status.ts";
import { diffRuntimePods, snapshotOf } from "./lifecycle-events.ts";

function makePod(containers: Record<string, ContainerState>, sandbox?: "ready" | "notready"): RuntimePod {
  return {
    uid: "uid-1",
    name: "web",
    namespace: "default",
    sandboxes: sandbox === undefined ? [] : [{ id: "box", attempt: 0, state: sandbox, createdAt: 0 }],
    containers: Object.entries(containers).map(([id, state]) => ({
      id,
      sandboxId: "box",
      name: id,
      attempt: 0,
      state,
      createdAt: 0,
    })),
  };
}

const describeEvents = (before: RuntimePod | undefined, after: RuntimePod | undefined) =>
  diffRuntimePods(before, after).map(({ type, id }) => `${id} ${type}`);

describe("diffRuntimePods", () => {
  const states: Array<ContainerState | undefined> = ["created", "running", "exited", "unknown", undefined];
  const started = ["main ContainerStarted"];
  const died = ["main ContainerDied"];
  const changed = ["main ContainerChanged"];
  const removed = ["main ContainerRemoved"];
  const diedAndRemoved = [...died, ...removed];
  const expected: Record<string, string[][]> = {
    created: [[], started, died, changed, diedAndRemoved],
    running: [changed, [], died, changed, diedAndRemoved],
    exited: [changed, started, [], changed, removed],
    unknown: [changed, started, died, [], diedAndRemoved],
    absent: [changed, started, died, changed, []],
  };
  const cases = states.flatMap((before) =>
    states.map((after, index) => ({ before, after, events: expected[before ?? "absent"]?.[index] })),
  );
  it.each(cases)("$before -> $after: $events", ({ before, after, events }) => {
    const pod = (state: ContainerState | undefined) => makePod(state === undefined ? {} : { main: state });
    expect(describeEvents(pod(before), pod(after))).toEqual(events);
  });

  it("treats a sandbox as a container that runs while it is ready", () => {
    expect(describeEvents(undefined, makePod({}, "ready"))).toEqual(["box ContainerStarted"]);
    expect(describeEvents(makePod({}, "ready"), makePod({}, "notready"))).toEqual(["box ContainerDied"]);
    expect(describeEvents(makePod({}, "notready"), undefined)).toEqual(["box ContainerRemoved"]);
  });

  it("tells all containers of a pod apart", () => {
    const before = makePod({ a: "running", b: "running", c: "exited" });
    const after = makePod({ a: "running", b: "exited", d: "running" });
    expect(describeEvents(before, after)).toEqual(["b ContainerDied", "c ContainerRemoved", "d ContainerStarted"]);
  });
});

it("a status and a list of the same pod do not differ", () => {
  const pod = makePod({ a: "running", b: "exited" }, "ready");
  const containers = pod.containers.map(({ attempt, ...container }) => ({ ...container, restartCount: attempt }));
  expect(diffRuntimePods(pod, snapshotOf({ ...pod, containers }))).toEqual([]);
  expect(snapshotOf({ ...pod, sandboxes: [], containers: [] })).toBeUndefined();
});
