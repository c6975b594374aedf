import { describe, expect, it } from "vitest";
import type { Container, ContainerState, ContainerStatus, Pod, PodStatus } from "../../api/gen/types.ts";
import { computePodRow } from "./pod-row.ts";

const NOW = Date.parse("2026-01-01T01:00:00Z");
const RUNNING: ContainerState = { running: { startedAt: "2026-01-01T00:30:00Z" } };

const container = (name: string, extra: Partial<Container> = {}): Container => ({ name, image: "x", ...extra });
const exited = (exitCode: number, reason?: string, signal?: number): ContainerState => ({
  terminated: { exitCode, ...(reason && { reason }), ...(signal && { signal }) },
});
const waits = (reason: string): ContainerState => ({ waiting: { reason } });

function state(name: string, value: ContainerState, extra: Partial<ContainerStatus> = {}): ContainerStatus {
  return {
    name,
    image: "x",
    imageID: "x",
    ready: value.running !== undefined,
    restartCount: 0,
    state: value,
    ...extra,
  };
}

interface PodParts {
  init?: Container[];
  status?: PodStatus;
  metadata?: Pod["metadata"];
}

function pod({ init, status = {}, metadata = {} }: PodParts): Pod {
  return {
    metadata: { name: "web", namespace: "default", ...metadata },
    spec: { containers: [container("main"), container("other")], ...(init && { initContainers: init }) },
    status: { phase: "Running", ...status },
  };
}

const initialized = [{ type: "Initialized", status: "True" }];
const sidecar = container("side", { restartPolicy: "Always" });
const one = [container("prepare")];

describe("the STATUS and READY cells", () => {
  const cases: Array<[string, PodParts, string, string]> = [
    ["the phase when no container says more", { status: { phase: "Pending" } }, "Pending", "0/2"],
    ["the pod's own reason", { status: { phase: "Failed", reason: "Evicted" } }, "Evicted", "0/2"],
    [
      "a waiting container's reason",
      { status: { containerStatuses: [state("main", waits("CrashLoopBackOff")), state("other", RUNNING)] } },
      "CrashLoopBackOff",
      "1/2",
    ],
    [
      "the first container's word over the last's",
      {
        status: {
          containerStatuses: [state("main", waits("ErrImagePull")), state("other", waits("CrashLoopBackOff"))],
        },
      },
      "ErrImagePull",
      "0/2",
    ],
    ["running", { status: { containerStatuses: [state("main", RUNNING), state("other", RUNNING)] } }, "Running", "2/2"],
    [
      "completed",
      {
        status: {
          phase: "Succeeded",
          containerStatuses: [state("main", exited(0, "Completed")), state("other", exited(0, "Completed"))],
        },
      },
      "Completed",
      "0/2",
    ],
    [
      "an exit code without a reason",
      { status: { containerStatuses: [state("main", exited(3))] } },
      "ExitCode:3",
      "0/2",
    ],
    [
      "a signal without a reason",
      { status: { containerStatuses: [state("main", exited(137, undefined, 9))] } },
      "Signal:9",
      "0/2",
    ],
    [
      "a completed container beside a running one of a ready pod",
      {
        status: {
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [state("main", exited(0, "Completed")), state("other", RUNNING)],
        },
      },
      "Running",
      "1/2",
    ],
    [
      "the same of a pod that is not ready",
      { status: { containerStatuses: [state("main", exited(0, "Completed")), state("other", RUNNING)] } },
      "NotReady",
      "1/2",
    ],
    [
      "the first init container",
      { init: one, status: { phase: "Pending", initContainerStatuses: [state("prepare", waits("PodInitializing"))] } },
      "Init:0/1",
      "0/2",
    ],
    [
      "a running init container",
      { init: one, status: { phase: "Pending", initContainerStatuses: [state("prepare", RUNNING)] } },
      "Init:0/1",
      "0/2",
    ],
    [
      "an init container that crashes",
      { init: one, status: { phase: "Pending", initContainerStatuses: [state("prepare", waits("CrashLoopBackOff"))] } },
      "Init:CrashLoopBackOff",
      "0/2",
    ],
    [
      "an init container that failed",
      { init: one, status: { phase: "Pending", initContainerStatuses: [state("prepare", exited(1, "Error"))] } },
      "Init:Error",
      "0/2",
    ],
    [
      "an init container that failed without a reason",
      { init: one, status: { initContainerStatuses: [state("prepare", exited(2))] } },
      "Init:ExitCode:2",
      "0/2",
    ],
    [
      "init containers that are done",
      {
        init: one,
        status: {
          initContainerStatuses: [state("prepare", exited(0, "Completed"))],
          containerStatuses: [state("main", waits("ContainerCreating"))],
        },
      },
      "ContainerCreating",
      "0/2",
    ],
    [
      "a sidecar that has not started",
      {
        init: [sidecar],
        status: { phase: "Pending", initContainerStatuses: [state("side", RUNNING, { started: false })] },
      },
      "Init:0/1",
      "0/3",
    ],
    [
      "a sidecar that counts as ready",
      {
        init: [sidecar],
        status: {
          initContainerStatuses: [state("side", RUNNING, { started: true })],
          containerStatuses: [state("main", RUNNING), state("other", RUNNING)],
        },
      },
      "Running",
      "3/3",
    ],
    [
      "a sidecar that fails after initialisation",
      {
        init: [sidecar],
        status: {
          conditions: initialized,
          initContainerStatuses: [state("side", waits("CrashLoopBackOff"))],
          containerStatuses: [state("main", RUNNING), state("other", RUNNING)],
        },
      },
      "Running",
      "2/3",
    ],
    [
      "terminating",
      {
        metadata: { deletionTimestamp: "2026-01-01T00:59:00Z" },
        status: { containerStatuses: [state("main", RUNNING)] },
      },
      "Terminating",
      "1/2",
    ],
    [
      "terminating, but done",
      { metadata: { deletionTimestamp: "2026-01-01T00:59:00Z" }, status: { phase: "Failed" } },
      "Failed",
      "0/2",
    ],
    [
      "of a lost node",
      { metadata: { deletionTimestamp: "2026-01-01T00:59:00Z" }, status: { reason: "NodeLost" } },
      "Unknown",
      "0/2",
    ],
  ];

  it.each(cases)("show %s", (_, parts, status, ready) => {
    expect(computePodRow(pod(parts), NOW)).toMatchObject({ status, ready });
  });
});

describe("the RESTARTS cell", () => {
  const lastState = { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:55:00Z" } };

  it("adds up the containers and says when the last one ended", () => {
    const containerStatuses = [
      state("main", RUNNING, { restartCount: 2, lastState }),
      state("other", RUNNING, { restartCount: 1 }),
    ];
    expect(computePodRow(pod({ status: { containerStatuses } }), NOW).restarts).toBe("3 (5m ago)");
  });

  it("counts init containers only while they run", () => {
    const initContainerStatuses = [state("prepare", exited(0), { restartCount: 4, lastState })];
    const status = { initContainerStatuses, containerStatuses: [state("main", RUNNING)] };
    expect(computePodRow(pod({ init: one, status }), NOW).restarts).toBe("0");
    expect(
      computePodRow(
        pod({ init: one, status: { initContainerStatuses: [state("prepare", RUNNING, { restartCount: 4 })] } }),
        NOW,
      ).restarts,
    ).toBe("4");
  });

  it("keeps counting sidecars", () => {
    const status = { initContainerStatuses: [state("side", RUNNING, { started: true, restartCount: 4 })] };
    expect(computePodRow(pod({ init: [sidecar], status }), NOW).restarts).toBe("4");
  });
});

describe("the AGE and IP cells", () => {
  it("take the oldest start that is known, since a restarted agent took the pod up later", () => {
    const status = {
      startTime: "2026-01-01T00:50:00Z",
      podIP: "10.64.0.2",
      containerStatuses: [state("main", RUNNING)],
    };
    expect(computePodRow(pod({ status }), NOW)).toMatchObject({ age: "30m", ip: "10.64.0.2" });
  });

  it("say so when nothing is known", () => {
    expect(computePodRow(pod({}), NOW)).toMatchObject({ age: "<unknown>", ip: "<none>" });
  });
});
