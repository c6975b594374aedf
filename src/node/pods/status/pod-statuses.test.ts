import { describe, expect, test } from "vitest";
import type { ContainerState, ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { makePod, type PodShape } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import { isPodStatusEqual } from "./pod-status-equal.ts";
import { createPodStatuses } from "./pod-statuses.ts";

const UID = "uid-1";
const START = Date.parse("2026-01-01T00:00:00Z");

function setUp() {
  let now = START;
  const statuses = createPodStatuses({ clock: { now: () => now } });
  const heard: PodStatus[] = [];
  const unsubscribe = statuses.subscribe(({ status }) => heard.push(status));
  return { statuses, heard, unsubscribe, pass: (ms: number) => (now += ms) };
}

const running: ContainerState = { running: {} };
const waiting: ContainerState = { waiting: { reason: "ContainerCreating" } };
const ended = (exitCode: number): ContainerState => ({ terminated: { exitCode } });

function container(name: string, state: ContainerState, overrides: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, image: "", imageID: "", ready: false, restartCount: 0, state, ...overrides };
}

const main = (state: ContainerState, overrides: Partial<ContainerStatus> = {}): PodStatus => ({
  phase: "Running",
  containerStatuses: [container("main", state, overrides)],
});

function makeStatic(shape: PodShape): Pod {
  const pod = makePod(shape);
  return { ...pod, metadata: { ...pod.metadata, annotations: { [CONFIG_SOURCE_ANNOTATION]: "file" } } };
}

describe("publishing", () => {
  test("tells each change once", () => {
    const { statuses, heard, unsubscribe } = setUp();
    const pod = makePod({});
    expect(statuses.set(pod, { phase: "Pending" })).toBe(true);
    expect(statuses.set(pod, { phase: "Pending" })).toBe(false);
    expect(statuses.set(pod, { phase: "Running" })).toBe(true);
    unsubscribe();
    statuses.set(pod, { phase: "Succeeded" });
    expect(heard.map(({ phase }) => phase)).toEqual(["Pending", "Running"]);
    expect(statuses.get(UID)?.phase).toBe("Succeeded");
    expect(statuses.list()).toHaveLength(1);
  });

  test("a generation that was not seen before is news, whatever it changed", () => {
    const { statuses, heard } = setUp();
    const pod = makePod({});
    const ofGeneration = (generation: number): Pod => ({ ...pod, metadata: { ...pod.metadata, generation } });
    for (const generation of [1, 1, 2]) statuses.set(ofGeneration(generation), { phase: "Running" });
    expect(heard.map(({ observedGeneration }) => observedGeneration)).toEqual([1, 2]);
  });

  test("lists the pod as it is now, also when its status is no news", () => {
    const { statuses } = setUp();
    statuses.set(makePod({}), { phase: "Running" });
    const changed = makePod({ main: ["main", "other"] });
    statuses.set(changed, { phase: "Running" });
    expect(statuses.list()[0]?.pod).toBe(changed);
  });

  test("that nothing of a pod runs any more is news where it has ended, and only there", () => {
    const { statuses } = setUp();
    const pod = makePod({});
    expect(statuses.set(pod, { phase: "Running" }, { mayRun: true })).toBe(true);
    expect(statuses.set(pod, { phase: "Running" }, { mayRun: false })).toBe(false);
    expect(statuses.set(pod, { phase: "Failed" }, { mayRun: true })).toBe(true);
    expect(statuses.set(pod, { phase: "Failed" }, { mayRun: true })).toBe(false);
    expect(statuses.list()).toMatchObject([{ status: { phase: "Failed" }, mayRun: true }]);
    expect(statuses.set(pod, { phase: "Failed" }, { mayRun: false })).toBe(true);
    expect(statuses.list()).toMatchObject([{ status: { phase: "Failed" }, mayRun: false }]);
    expect(statuses.set(pod, { phase: "Failed" })).toBe(false);
  });

  test("a removed pod begins anew", () => {
    const { statuses } = setUp();
    statuses.set(makePod({}), { phase: "Failed" });
    statuses.remove(UID);
    expect(statuses.get(UID)).toBeUndefined();
    statuses.set(makePod({}), { phase: "Pending" });
    expect(statuses.get(UID)?.phase).toBe("Pending");
  });

  test("the start time is the first one, and a condition's time that of its status", () => {
    const { statuses, pass } = setUp();
    const pod = makePod({});
    statuses.set(pod, { conditions: [{ type: "PodScheduled", status: "True" }] });
    pass(60_000);
    statuses.set(pod, { phase: "Running", conditions: [{ type: "PodScheduled", status: "True" }] });
    expect(statuses.get(UID)).toMatchObject({
      startTime: "2026-01-01T00:00:00Z",
      conditions: [{ lastTransitionTime: "2026-01-01T00:00:00Z" }],
    });
    statuses.set(pod, { phase: "Running", conditions: [{ type: "PodScheduled", status: "False" }] });
    expect(statuses.get(UID)?.conditions).toMatchObject([{ lastTransitionTime: "2026-01-01T00:01:00Z" }]);
  });
});

describe("what never goes back", () => {
  test("a terminal phase, its reason, and the readiness that follows from it", () => {
    const { statuses } = setUp();
    const pod = makePod({});
    statuses.set(pod, { phase: "Failed", reason: "Evicted", message: "low on memory" });
    const late = { ...main(running, { ready: true }), conditions: [{ type: "Ready", status: "True" }] };
    statuses.set(pod, late);
    expect(statuses.get(UID)).toMatchObject({
      phase: "Failed",
      reason: "Evicted",
      message: "low on memory",
      conditions: [{ type: "Ready", status: "False", reason: "PodFailed" }],
    });
  });

  test("nor does one that the API server stored", () => {
    const { statuses } = setUp();
    statuses.set({ ...makePod({}), status: { phase: "Succeeded" } }, { phase: "Running" });
    expect(statuses.get(UID)?.phase).toBe("Succeeded");
  });

  type Row = [name: string, policy: string, from: ContainerState, to: Partial<ContainerStatus>, expected: string];
  const rows: Row[] = [
    ["the end of a container under Never", "Never", ended(1), { state: waiting }, "terminated"],
    ["a success under OnFailure", "OnFailure", ended(0), { state: waiting }, "terminated"],
    ["but a failure under OnFailure restarts", "OnFailure", ended(1), { state: waiting }, "waiting"],
    ["but everything restarts under Always", "Always", ended(0), { state: waiting }, "waiting"],
    ["but another container is news", "Never", ended(1), { state: running, containerID: "containerd://2" }, "running"],
  ];
  test.each(rows)("%s", (_name, restartPolicy, from, to, expected) => {
    const { statuses } = setUp();
    const pod = makePod({ restartPolicy });
    statuses.set(pod, main(from, { containerID: "containerd://1" }));
    statuses.set(pod, main(waiting, to));
    expect(Object.keys(statuses.get(UID)?.containerStatuses?.[0]?.state ?? {})).toEqual([expected]);
  });

  test("a restart count", () => {
    const { statuses } = setUp();
    statuses.set(makePod({}), main(running, { restartCount: 4 }));
    expect(statuses.set(makePod({}), main(running, { restartCount: 1 }))).toBe(false);
    expect(statuses.get(UID)?.containerStatuses?.[0]?.restartCount).toBe(4);
  });
});

describe("terminate", () => {
  const kinds = (list: readonly ContainerStatus[] = []) =>
    list.map(({ state }) => state?.terminated?.reason ?? Object.keys(state ?? {})[0]);
  const lost = "ContainerStatusUnknown";

  test("a container whose end nobody saw has failed, and so has the pod", () => {
    const { statuses } = setUp();
    const pod = makePod({ main: ["a", "b"] });
    statuses.set(pod, { phase: "Running", containerStatuses: [container("a", ended(0)), container("b", running)] });
    expect(statuses.terminate(pod)).toBe(true);
    const status = statuses.get(UID);
    expect(status).toMatchObject({ phase: "Failed" });
    expect(status?.containerStatuses?.[1]).toMatchObject({ ready: false, state: { terminated: { exitCode: 137 } } });
    expect(statuses.terminate(pod)).toBe(false);
  });

  test("a pod that succeeded has succeeded", () => {
    const { statuses } = setUp();
    const pod = makePod({ restartPolicy: "Never" });
    statuses.set(pod, { ...main(ended(0)), phase: "Succeeded" });
    expect(statuses.terminate(pod)).toBe(false);
    expect(statuses.get(UID)?.phase).toBe("Succeeded");
  });

  test("a static pod gets no terminal phase", () => {
    const { statuses } = setUp();
    statuses.set(makeStatic({}), main(running));
    statuses.terminate(makeStatic({}));
    expect(statuses.get(UID)).toMatchObject({ phase: "Running", containerStatuses: [{ state: { terminated: {} } }] });
  });

  test.each<[name: string, init: ContainerState[], mainState: ContainerState, inits: string[], mains: string[]]>([
    ["was never begun", [waiting, waiting], waiting, [lost, "waiting"], ["waiting"]],
    ["was at its first", [running, waiting], waiting, [lost, "waiting"], ["waiting"]],
    ["was at its last", [ended(0), running], waiting, ["terminated", lost], ["waiting"]],
    ["was done", [ended(0), ended(0)], waiting, ["terminated", "terminated"], [lost]],
    ["left no trace but main's", [waiting, waiting], running, [lost, "waiting"], [lost]],
  ])("what was never started is not called failed: initialisation %s", (_name, init, mainState, inits, mains) => {
    const { statuses } = setUp();
    const pod = makePod({ init: ["i", "j"] });
    statuses.set(pod, {
      phase: "Pending",
      initContainerStatuses: init.map((state, index) => container(["i", "j"][index] ?? "", state)),
      containerStatuses: [container("main", mainState)],
    });
    statuses.terminate(pod);
    expect(kinds(statuses.get(UID)?.initContainerStatuses)).toEqual(inits);
    expect(kinds(statuses.get(UID)?.containerStatuses)).toEqual(mains);
  });

  test("a pod that nothing was published of takes what the API server stored", () => {
    const { statuses } = setUp();
    const pod: Pod = { ...makePod({}), status: main(running) };
    statuses.terminate(pod);
    expect(statuses.get(UID)).toMatchObject({ phase: "Failed", containerStatuses: [{ name: "main" }] });
  });
});

describe("isPodStatusEqual", () => {
  const base = main(running, { lastState: {} });

  test.each<[name: string, other: PodStatus, expected: boolean]>([
    ["the same", structuredClone(base), true],
    ["absent and empty", { ...base, message: "", initContainerStatuses: [] }, true],
    ["another phase", { ...base, phase: "Failed" }, false],
    ["another state", main(waiting, { lastState: {} }), false],
    ["an empty state is not the same as none running", main({ running: { startedAt: "2026-01-01T00:00:00Z" } }), false],
    [
      "one container more",
      { ...base, containerStatuses: [...(base.containerStatuses ?? []), container("b", running)] },
      false,
    ],
    ["zero is not absent", main(running, { lastState: {}, restartCount: 1 }), false],
  ])("%s", (_name, other, expected) => {
    expect(isPodStatusEqual(base, other)).toBe(expected);
    expect(isPodStatusEqual(other, base)).toBe(expected);
  });

  test("a container that waits differs from one that runs, though both say no more", () => {
    expect(isPodStatusEqual(main({ waiting: {} }), main({ running: {} }))).toBe(false);
  });
});
