import { describe, expect, test } from "vitest";
import type { Pod } from "../../../api/gen/types.ts";
import type { PodRuntimeStatus } from "../reading/pod-runtime-status.ts";
import {
  describeActions,
  makeContainer,
  makePod,
  makeRuntimeStatus,
  makeSandbox,
  type PodShape,
} from "./__fixtures__/runtime-status.ts";
import { computePodActions } from "./compute-pod-actions.ts";
import type { PlanInput } from "./plan-input.ts";

function plan(pod: Pod, status: PodRuntimeStatus, overrides: Partial<PlanInput> = {}) {
  return computePodActions({
    pod,
    status,
    now: 10_000,
    waitUntil: () => undefined,
    isSameContainer: (_container, hash) => hash === "same",
    verdictOf: () => ({ started: true, failed: undefined }),
    ...overrides,
  });
}

const describePlan = (shape: PodShape, status: PodRuntimeStatus) => describeActions(plan(makePod(shape), status));

describe("the sandbox", () => {
  const dead = makeSandbox({ state: "notready" });
  const cases: Array<[name: string, status: PodRuntimeStatus, expected: string]> = [
    ["a pod that is new gets its first sandbox", makeRuntimeStatus([], []), "sandbox 0; start main#0"],
    ["what has no container yet starts in it", makeRuntimeStatus([]), "start main#0"],
    ["one that is as it should be is kept", makeRuntimeStatus(["main running"]), ""],
    [
      "one that died is stopped and replaced, and what ran in it starts again",
      makeRuntimeStatus(["main running"], [dead]),
      "kill sandbox-not-ready; sandbox 1; start main#1",
    ],
    [
      "of several ready ones none is trusted",
      makeRuntimeStatus([], [makeSandbox({ attempt: 3 }), makeSandbox({ attempt: 2 })]),
      "kill several-sandboxes; sandbox 4; start main#0",
    ],
    [
      "the attempt is beyond every one that was made, also when the newest is not the highest",
      makeRuntimeStatus(
        [],
        [makeSandbox({ attempt: 1, state: "notready" }), makeSandbox({ attempt: 5, state: "notready" })],
      ),
      "kill sandbox-not-ready; sandbox 6; start main#0",
    ],
    [
      "an old ready one does not replace a newest that is not",
      makeRuntimeStatus([], [makeSandbox({ attempt: 1, state: "notready" }), makeSandbox()]),
      "kill sandbox-not-ready; sandbox 2; start main#0",
    ],
    [
      "one of the host's network does not fit a pod with its own",
      makeRuntimeStatus([], [makeSandbox({ hostNetwork: true, ips: [] })]),
      "kill sandbox-network-changed; sandbox 1; start main#0",
    ],
    [
      "one without an address is replaced",
      makeRuntimeStatus([], [makeSandbox({ ips: [] })]),
      "kill sandbox-without-address; sandbox 1; start main#0",
    ],
    [
      "containers whose sandbox is gone are stopped before another is made",
      makeRuntimeStatus(["main running"], []),
      "kill sandbox-missing; sandbox 0; start main#1",
    ],
  ];
  test.each(cases)("%s", (_name, status, expected) => {
    expect(describePlan({}, status)).toBe(expected);
  });

  test("a pod on the host's network needs no address", () => {
    const pod = makePod({});
    const onHost: Pod = { ...pod, spec: { containers: [], ...pod.spec, hostNetwork: true } };
    const status = makeRuntimeStatus(["main running"], [makeSandbox({ hostNetwork: true, ips: [] })]);
    expect(describeActions(plan(onHost, status))).toBe("");
    expect(describeActions(plan(onHost, makeRuntimeStatus(["main running"])))).toContain("sandbox-network-changed");
  });

  test("the plan names the sandbox to start containers in, and none when it must be made", () => {
    expect(plan(makePod({}), makeRuntimeStatus([])).sandboxId).toBe("sandbox-0");
    expect(plan(makePod({}), makeRuntimeStatus([], [dead])).sandboxId).toBeUndefined();
  });
});

describe("main containers by restart policy", () => {
  type Row = [state: string, always: string, onFailure: string, never: string];
  const rows = (table: Row[]) =>
    table.flatMap(([state, ...expected]) =>
      ["Always", "OnFailure", "Never"].map((policy, index) => [policy, state, expected[index] ?? ""] as const),
    );
  const over = "kill nothing-left-to-run";
  const inReadySandbox: Row[] = [
    ["running", "", "", ""],
    ["created", "start main#1", "start main#1", "start main#1"],
    ["exited:0", "start main#1", over, over],
    ["exited:1", "start main#1", "start main#1", over],
    ["unknown", "stop main-0; start main#1", "stop main-0; start main#1", "stop main-0; start main#1"],
  ];
  test.each(rows(inReadySandbox))("%s, %s, sandbox ready: %s", (restartPolicy, state, expected) => {
    expect(describePlan({ restartPolicy }, makeRuntimeStatus([`main ${state}`]))).toBe(expected);
  });

  const anew = "kill sandbox-not-ready; sandbox 1; start main#1";
  const inDeadSandbox: Row[] = [
    ["running", anew, anew, "kill sandbox-not-ready"],
    ["created", anew, anew, anew],
    ["exited:0", anew, "", ""],
    ["exited:1", anew, anew, ""],
    ["unknown", anew, anew, "kill sandbox-not-ready"],
  ];
  test.each(rows(inDeadSandbox))("%s, %s, sandbox dead: %s", (restartPolicy, state, expected) => {
    const status = makeRuntimeStatus([`main ${state}`], [makeSandbox({ state: "notready" })]);
    expect(describePlan({ restartPolicy }, status)).toBe(expected);
  });

  test("one that succeeded is left out when OnFailure makes a new sandbox for the other", () => {
    const status = makeRuntimeStatus(["a exited:0", "b exited:1"], [makeSandbox({ state: "notready" })]);
    const shape = { restartPolicy: "OnFailure", main: ["a", "b"] };
    expect(describePlan(shape, status)).toBe("kill sandbox-not-ready; sandbox 1; start b#1");
  });

  test("a pod goes on while one of its containers does", () => {
    const shape = { restartPolicy: "Never", main: ["a", "b"] };
    expect(describePlan(shape, makeRuntimeStatus(["a exited:1", "b running"]))).toBe("");
  });

  test("a pod that ended and stopped needs nothing more", () => {
    const status = makeRuntimeStatus(["main exited:0"], [makeSandbox({ state: "notready" })]);
    expect(describePlan({ restartPolicy: "Never" }, status)).toBe("");
  });

  test("a changed definition restarts a container under every policy", () => {
    for (const restartPolicy of ["Always", "OnFailure", "Never"]) {
      const status = makeRuntimeStatus([makeContainer("main running", { hash: "other", restartCount: 4 })]);
      const actions = plan(makePod({ restartPolicy }), status);
      expect(describeActions(actions)).toBe("stop main-4; start main#5");
      expect(actions.containersToKill[0]?.message).toBe("Container main definition changed, will be restarted");
    }
  });

  test("the newest container of a name counts, and its restarts go on from there", () => {
    const older = makeContainer("main running", { restartCount: 6 });
    const newer = makeContainer("main exited:1", { restartCount: 7 });
    expect(describePlan({}, makeRuntimeStatus([newer, older]))).toBe("start main#8");
  });

  test("an unknown state is killed with upstream's words", () => {
    const [kill] = plan(makePod({}), makeRuntimeStatus(["main unknown"])).containersToKill;
    expect(kill?.message).toBe('Container is in "unknown" state, try killing it before restart');
  });
});

describe("init containers", () => {
  type Row = [name: string, shape: PodShape, containers: string[], expected: string];
  const two: PodShape = { init: ["a", "b"] };
  const never: PodShape = { ...two, restartPolicy: "Never" };
  const rows: Row[] = [
    ["the first starts alone", two, [], "start a#0"],
    ["the next waits for it", two, ["a running"], ""],
    ["the next starts when it succeeded", two, ["a exited:0"], "start b#0"],
    ["one that failed starts again", two, ["a exited:1"], "start a#1"],
    [
      "one that failed starts again under OnFailure",
      { ...two, restartPolicy: "OnFailure" },
      ["a exited:1"],
      "start a#1",
    ],
    ["one that failed ends the pod under Never", never, ["a exited:1"], "kill initialization-failed"],
    ["one that was never started is made anew", never, ["a created"], "start a#1"],
    ["an unknown one is killed and starts again", two, ["a unknown"], "stop a-0; start a#1"],
    ["an unknown one ends the pod under Never", never, ["a unknown"], "kill initialization-failed"],
    ["main containers start after the last", two, ["b exited:0", "a exited:0"], "start main#0"],
    ["traces of the earlier ones may be gone", two, ["b exited:0"], "start main#0"],
    ["all traces may be gone once main runs", two, ["main running"], ""],
    ["all traces may be gone once main has run", two, ["main exited:1"], "start main#1"],
    ["main that runs is left alone although an init container is failed", never, ["main running", "a exited:1"], ""],
  ];
  test.each(rows)("%s", (_name, shape, containers, expected) => {
    expect(describePlan(shape, makeRuntimeStatus(containers))).toBe(expected);
  });

  test("exit code 0 of an OOM-killed init container is a failure", () => {
    const status = makeRuntimeStatus([makeContainer("a exited:0", { reason: "OOMKilled" })]);
    expect(describePlan(two, status)).toBe("start a#1");
  });

  test("a new sandbox begins with the first again, and what passed in the old one does not count", () => {
    const old = ["main exited:0", "b exited:0", "a exited:0"];
    const dead = makeSandbox({ state: "notready" });
    expect(describePlan(two, makeRuntimeStatus(old, [dead]))).toBe("kill sandbox-not-ready; sandbox 1; start a#1");
    const again = makeContainer("a exited:0", { restartCount: 1, sandboxId: "sandbox-1" });
    const status = makeRuntimeStatus([again, ...old], [makeSandbox({ attempt: 1 }), dead]);
    expect(describePlan(two, status)).toBe("start b#1");
  });
});

describe("sidecars", () => {
  type Row = [name: string, shape: PodShape, containers: string[], expected: string];
  const shape: PodShape = { init: ["s*", "a", "t*"] };
  const never: PodShape = { ...shape, restartPolicy: "Never" };
  const rows: Row[] = [
    ["one that runs lets the next start", shape, ["s running"], "start a#0"],
    ["one that ended before the next started is started first", shape, ["s exited:0"], "start s#1"],
    ["one that ended is restarted beside a running init container", never, ["a running", "s exited:0"], "start s#1"],
    ["one whose trace is gone is started again", shape, ["a running"], "start s#0"],
    ["the last one lets main start", shape, ["t running", "a exited:0", "s running"], "start main#0"],
    ["one that ended restarts whatever the policy", never, ["main running", "t exited:1", "s running"], "start t#1"],
    ["they start in order", shape, ["main running", "t exited:0", "s created"], "start s#1; start t#1"],
    ["an unknown one is killed first", shape, ["main running", "t unknown", "s running"], "stop t-0; start t#1"],
    ["they do not keep a pod alive", never, ["main exited:0", "t running", "s running"], "kill nothing-left-to-run"],
    [
      "they are not restarted when main is done",
      never,
      ["main exited:0", "t exited:1", "s running"],
      "kill nothing-left-to-run",
    ],
  ];
  test.each(rows)("%s", (_name, pod, containers, expected) => {
    expect(describePlan(pod, makeRuntimeStatus(containers))).toBe(expected);
  });

  test("a changed definition restarts a sidecar", () => {
    const status = makeRuntimeStatus(["main running", makeContainer("s running", { hash: "other" })]);
    const actions = plan(makePod({ init: ["s*"] }), status);
    expect(describeActions(actions)).toBe("stop s-0; start s#1");
    expect(actions.containersToKill[0]?.message).toBe("Init container s definition changed");
  });
});

describe("ephemeral containers", () => {
  const shape: PodShape = { init: ["a"], ephemeral: ["debug"] };

  test("start before the init containers are done, and never again", () => {
    expect(describePlan(shape, makeRuntimeStatus(["a running"]))).toBe("start debug#0");
    expect(describePlan(shape, makeRuntimeStatus(["debug exited:1", "a running"]))).toBe("");
    expect(describePlan(shape, makeRuntimeStatus(["debug unknown", "a running"]))).toBe("");
  });

  test("do not keep a pod alive", () => {
    const status = makeRuntimeStatus(["main exited:0", "debug running"]);
    expect(describePlan({ restartPolicy: "Never", ephemeral: ["debug"] }, status)).toBe("kill nothing-left-to-run");
  });
});

describe("back-off", () => {
  const waiting = { waitUntil: (_container: unknown, endedAt: number) => endedAt + 10_000 };

  test("a container waits for it without stopping the others", () => {
    const status = makeRuntimeStatus(["a exited:1"]);
    const actions = plan(makePod({ main: ["a", "b"] }), status, waiting);
    expect(describeActions(actions)).toBe("start b#0; wait a");
    expect(actions.backingOff[0]?.until).toBe(14_000);
  });

  test("it is over at its time, not after it", () => {
    const status = makeRuntimeStatus(["main exited:1"]);
    expect(describeActions(plan(makePod({}), status, { ...waiting, now: 13_999 }))).toBe("wait main");
    const [start] = plan(makePod({}), status, { ...waiting, now: 14_000 }).containersToStart;
    expect(start).toMatchObject({ restartCount: 1, previousEndedAt: 4_000 });
  });

  test("an end that the runtime gives no time of counts from the creation", () => {
    const status = makeRuntimeStatus([makeContainer("main exited:128", { finishedAt: 0, createdAt: 9_500 })]);
    expect(plan(makePod({}), status, waiting).backingOff[0]?.until).toBe(19_500);
  });

  test("a pod whose only container waits is not over", () => {
    const actions = plan(makePod({ restartPolicy: "OnFailure" }), makeRuntimeStatus(["main exited:1"]), waiting);
    expect(describeActions(actions)).toBe("wait main");
  });

  test("an init container waits, and main containers with it", () => {
    const actions = plan(makePod({ init: ["a"] }), makeRuntimeStatus(["a exited:1"]), waiting);
    expect(describeActions(actions)).toBe("wait a");
  });
});

describe("a pod at its end", () => {
  test("stays dead when its phase is terminal, and what still runs is stopped", () => {
    const pod: Pod = { ...makePod({}), status: { phase: "Failed" } };
    expect(describeActions(plan(pod, makeRuntimeStatus(["main running"])))).toBe("kill nothing-left-to-run");
    expect(describeActions(plan(pod, makeRuntimeStatus([], [])))).toBe("");
  });

  test("starts nothing while it is deleted", () => {
    const pod = makePod({ init: ["a"] });
    const deleted: Pod = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } };
    expect(describeActions(plan(deleted, makeRuntimeStatus([], [])))).toBe("");
    expect(describeActions(plan(deleted, makeRuntimeStatus(["main running"])))).toBe("");
    expect(describeActions(plan(deleted, makeRuntimeStatus(["main exited:1"])))).toBe("kill nothing-left-to-run");
  });
});

describe("what the probes say", () => {
  const failed = { livenessProbe: { terminationGracePeriodSeconds: 7 }, startupProbe: {} };
  const probed = (shape: PodShape): Pod => {
    const pod = makePod(shape);
    const { initContainers = [], containers = [] } = pod.spec ?? {};
    const withProbes = (all: typeof containers) => all.map((container) => ({ ...container, ...failed }));
    return {
      ...pod,
      spec: { ...pod.spec, initContainers: withProbes(initContainers), containers: withProbes(containers) },
    };
  };
  /** Verdicts by container: `waits` for one whose startup probe has not succeeded. */
  const describeProbed = (
    shape: PodShape,
    names: string[],
    verdicts: Record<string, "waits" | "startup" | "liveness">,
  ) => {
    const actions = plan(probed(shape), makeRuntimeStatus(names.map((name) => `${name} running`)), {
      verdictOf({ name }) {
        const found = verdicts[name];
        const started = found === undefined || found === "liveness";
        return { started, failed: found === "waits" ? undefined : found };
      },
    });
    const kills = actions.containersToKill.map(({ message, gracePeriodSeconds = "its own" }) => {
      return `${message} (${gracePeriodSeconds})`;
    });
    return [describeActions(actions), ...kills].join("; ");
  };

  test.each<[name: string, PodShape, string[], Record<string, "waits" | "startup" | "liveness">, string]>([
    ["of a container that is well changes nothing", {}, ["main"], {}, ""],
    ["of one that has not started yet neither", {}, ["main"], { main: "waits" }, ""],
    [
      "ends one that is dead, within the probe's grace period, and starts the next",
      {},
      ["main"],
      { main: "liveness" },
      "stop main-0; start main#1; Container main failed liveness probe, will be restarted (7)",
    ],
    [
      "ends one that never started, within the pod's grace period where the probe has none",
      { restartPolicy: "OnFailure" },
      ["main"],
      { main: "startup" },
      "stop main-0; start main#1; Container main failed startup probe, will be restarted (its own)",
    ],
    [
      "ends one that is not to be restarted, beside one that stays",
      { restartPolicy: "Never", main: ["main", "other"] },
      ["main", "other"],
      { main: "liveness" },
      "stop main-0; Container main failed liveness probe (7)",
    ],
    [
      "ends a pod of which nothing stays",
      { restartPolicy: "Never" },
      ["main"],
      { main: "liveness" },
      "kill nothing-left-to-run",
    ],
    ["holds back what comes after a sidecar that has not started", { init: ["a*", "b"] }, ["a"], { a: "waits" }, ""],
    ["holds back the main containers, too", { init: ["a*"] }, ["a"], { a: "waits" }, ""],
    ["lets them go on when it has", { init: ["a*"] }, ["a"], {}, "start main#0"],
    [
      "restarts a sidecar that never started, and nothing comes after it",
      { init: ["a*", "b"], restartPolicy: "Never" },
      ["a"],
      { a: "startup" },
      "stop a-0; start a#1; Init container a failed startup probe (its own)",
    ],
    [
      "restarts a sidecar that is dead, and what comes after it does not wait",
      { init: ["a*"] },
      ["a"],
      { a: "liveness" },
      "stop a-0; start a#1; start main#0; Init container a failed liveness probe (7)",
    ],
    [
      "of a sidecar that starts again does not touch main containers",
      { init: ["a*"] },
      ["a", "main"],
      { a: "waits" },
      "",
    ],
  ])("%s", (_name, shape, running, verdicts, expected) => {
    expect(describeProbed(shape, running, verdicts)).toBe(expected);
  });
});
