import { describe, expect, test } from "vitest";
import type { ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { makeContainer, makePod, makeRuntimeStatus } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { makeStatusInput } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";
import type { PodStatusInput } from "./pod-status-input.ts";

function computeMain(pod: Pod, runtime: PodRuntimeStatus, overrides: Partial<PodStatusInput> = {}): ContainerStatus {
  const [main] = computePodStatus(makeStatusInput(pod, runtime, overrides)).containerStatuses ?? [];
  if (main === undefined) throw new Error("no status of the main container");
  return main;
}

/** What was published of a main container, with what the case is about. */
function published(main: Partial<ContainerStatus>): PodStatus {
  const base = { name: "main", image: "main:1", imageID: "sha256:1", ready: false, restartCount: 0 };
  return { phase: "Running", containerStatuses: [{ ...base, ...main }] };
}

const crashLoop = new Map([["main", { reason: "CrashLoopBackOff", message: "back-off 10s" }]]);
const failed = { terminated: { exitCode: 1, reason: "Error", containerID: "containerd://main-0" } };

describe("the state of a container that the runtime knows", () => {
  test.each([
    ["tells whom it runs as", { linux: { uid: 1000, gid: 3000, supplementalGroups: [3000, 4000] } }],
    ["does not tell", undefined],
  ])("by a runtime that %s", (_what, user) => {
    const runtime = makeRuntimeStatus([makeContainer("main running", { ...(user && { user }) })]);
    expect(computeMain(makePod({}), runtime).user).toEqual(user);
  });

  test("running, with its start", () => {
    const main = computeMain(makePod({}), makeRuntimeStatus([makeContainer("main running", { startedAt: 1_500 })]));
    expect(main).toEqual({
      name: "main",
      image: "main:1",
      imageID: "sha256:1",
      containerID: "containerd://main-0",
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: "1970-01-01T00:00:01Z" } },
      lastState: {},
      resources: {},
    });
  });

  test.each([
    ["as the runtime words it", { exitCode: 137, reason: "OOMKilled" }, "OOMKilled"],
    ["StartError", { exitCode: 128, reason: "StartError" }, "StartError"],
    ["Completed, where the runtime has no word", { exitCode: 0, reason: "" }, "Completed"],
    ["Error, where the runtime has no word", { exitCode: 2, reason: "" }, "Error"],
  ])("terminated, with its reason: %s", (_name, overrides, reason) => {
    const main = computeMain(makePod({}), makeRuntimeStatus([makeContainer("main exited:0", overrides)]));
    expect(main.state?.terminated).toMatchObject({ exitCode: overrides.exitCode, reason });
    expect(main).toMatchObject({ ready: false, started: false });
  });

  test("created, which is waiting", () => {
    expect(computeMain(makePod({}), makeRuntimeStatus(["main created"])).state).toEqual({ waiting: {} });
  });

  test("unknown, which is lost where it ran before, and stays so", () => {
    const runtime = makeRuntimeStatus(["main unknown"]);
    expect(computeMain(makePod({}), runtime).state).toEqual({ waiting: {} });
    const previous = published({ state: { running: {} }, restartCount: 2, containerID: "containerd://main-0" });
    const lost = computeMain(makePod({}), runtime, { previous });
    expect(lost).toMatchObject({
      restartCount: 3,
      state: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
    });
    const later = computeMain(makePod({}), runtime, { previous: { containerStatuses: [lost] } });
    expect(later).toEqual(lost);
  });

  test("the end before is the last state", () => {
    const before = makeContainer("main exited:3", { restartCount: 4, message: "bye" });
    const main = computeMain(
      makePod({}),
      makeRuntimeStatus([makeContainer("main running", { restartCount: 5 }), before]),
    );
    expect(main.restartCount).toBe(5);
    expect(main.lastState?.terminated).toMatchObject({
      exitCode: 3,
      containerID: "containerd://main-4",
      message: "bye",
    });
  });

  test("the end before is kept when the runtime has removed that container", () => {
    const runtime = makeRuntimeStatus([makeContainer("main running", { restartCount: 1 })]);
    const seen = published({ state: failed, containerID: "containerd://main-0" });
    const restarted = computeMain(makePod({}), runtime, { previous: seen });
    expect(restarted.lastState).toEqual(failed);
    const later = computeMain(makePod({}), runtime, { previous: { containerStatuses: [restarted] } });
    expect(later.lastState).toEqual(failed);
  });

  test("the restart count never goes back", () => {
    const previous = published({ restartCount: 9, state: { running: {} } });
    expect(computeMain(makePod({}), makeRuntimeStatus(["main running"]), { previous }).restartCount).toBe(9);
  });

  test("a termination message is cut to its share of 12 KiB, between characters", () => {
    const container = makeContainer("b exited:1", { message: "é".repeat(10_000) });
    const status = computePodStatus(
      makeStatusInput(makePod({ main: ["a", "b", "c"] }), makeRuntimeStatus([container])),
    );
    const message = status.containerStatuses?.[1]?.state?.terminated?.message ?? "";
    expect(message).toBe("é".repeat(2_048));
  });
});

describe("the state of a container that the runtime does not know", () => {
  test("waits, by what the pod does first", () => {
    const none = makeRuntimeStatus([]);
    expect(computeMain(makePod({}), none).state).toEqual({ waiting: { reason: "ContainerCreating" } });
    expect(computeMain(makePod({ init: ["a"] }), none).state).toEqual({ waiting: { reason: "PodInitializing" } });
  });

  test("what ended has ended for good", () => {
    const previous = published({ state: failed, restartCount: 2 });
    const main = computeMain(makePod({ restartPolicy: "Never" }), makeRuntimeStatus([]), { previous });
    expect(main).toMatchObject({ state: failed, restartCount: 2, ready: false });
  });

  test("what ran and is gone has failed, and is counted as a restart once", () => {
    const previous = published({ state: { running: {} }, restartCount: 2 });
    const lost = computeMain(makePod({}), makeRuntimeStatus([]), { previous });
    expect(lost).toMatchObject({
      restartCount: 3,
      state: { waiting: { reason: "ContainerCreating" } },
      lastState: { terminated: { exitCode: 137, reason: "ContainerStatusUnknown" } },
    });
    const later = computeMain(makePod({}), makeRuntimeStatus([]), { previous: { containerStatuses: [lost] } });
    expect(later).toEqual(lost);
  });

  test("an init container of a pod whose main containers were made has succeeded; a sidecar has not", () => {
    const pod = makePod({ init: ["a", "s*"] });
    const status = computePodStatus(makeStatusInput(pod, makeRuntimeStatus(["main running"])));
    const [init, sidecar] = status.initContainerStatuses ?? [];
    expect(init).toMatchObject({ ready: true, state: { terminated: { exitCode: 0, reason: "Completed" } } });
    expect(sidecar).toMatchObject({ ready: false, state: { waiting: { reason: "PodInitializing" } } });
  });
});

describe("why a container waits", () => {
  test("takes the place of its end, which becomes the last state", () => {
    const main = computeMain(makePod({}), makeRuntimeStatus(["main exited:1"]), { waiting: crashLoop });
    expect(main.state).toEqual({ waiting: { reason: "CrashLoopBackOff", message: "back-off 10s" } });
    expect(main.lastState?.terminated).toMatchObject({ exitCode: 1, containerID: "containerd://main-0" });
  });

  test.each<[name: string, policy: string, container: string, overrides: Partial<PodStatusInput>]>([
    ["that runs", "Always", "main running", {}],
    ["that its policy does not restart", "Never", "main exited:1", {}],
    ["that succeeded under OnFailure", "OnFailure", "main exited:0", {}],
    ["of a pod that is being ended", "Always", "main exited:1", { workerPhase: "terminating" }],
  ])("is not said of one %s", (_name, restartPolicy, container, overrides) => {
    const input = { waiting: crashLoop, ...overrides };
    expect(
      computeMain(makePod({ restartPolicy }), makeRuntimeStatus([container]), input).state?.waiting,
    ).toBeUndefined();
  });

  test("is said of a sidecar under every policy, and not of an init container that succeeded", () => {
    const pod = makePod({ init: ["a", "s*"], restartPolicy: "Never" });
    const why = { reason: "CrashLoopBackOff", message: "" };
    const waiting = new Map([
      ["a", why],
      ["s", why],
    ]);
    const status = computePodStatus(makeStatusInput(pod, makeRuntimeStatus(["s exited:0", "a exited:0"]), { waiting }));
    const states = status.initContainerStatuses?.map(({ state }) => Object.keys(state ?? {})[0]);
    expect(states).toEqual(["terminated", "waiting"]);
  });
});

describe("started and ready", () => {
  const probing = (started: boolean, ready: boolean) => ({ readiness: () => ({ started, ready }) });

  test.each<[started: boolean, ready: boolean, expected: object]>([
    [true, true, { started: true, ready: true }],
    [true, false, { started: true, ready: false }],
    [false, true, { started: false, ready: false }],
  ])("follow the probes: started %s, ready %s", (started, ready, expected) => {
    expect(computeMain(makePod({}), makeRuntimeStatus(["main running"]), probing(started, ready))).toMatchObject(
      expected,
    );
  });

  test("a sidecar is ready as a main container is, an init container when it is done", () => {
    const pod = makePod({ init: ["s*", "a", "b"] });
    const runtime = makeRuntimeStatus(["b running", "a exited:0", "s running"]);
    const status = computePodStatus(makeStatusInput(pod, runtime));
    const list = status.initContainerStatuses?.map(({ name, started, ready }) => [name, started, ready]);
    expect(list).toEqual([
      ["s", true, true],
      ["a", false, true],
      ["b", true, false],
    ]);
  });

  test("an ephemeral container is reported and never ready", () => {
    const pod = makePod({ ephemeral: ["debug"] });
    const status = computePodStatus(makeStatusInput(pod, makeRuntimeStatus(["main running", "debug running"])));
    expect(status.ephemeralContainerStatuses).toMatchObject([{ name: "debug", ready: false }]);
    expect(status.ephemeralContainerStatuses?.[0]?.started).toBeUndefined();
  });
});
