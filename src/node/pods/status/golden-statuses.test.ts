import { describe, expect, test } from "vitest";
import type { ContainerState, ContainerStatus, Pod, PodStatus } from "../../../api/gen/types.ts";
import { parseTime } from "../../../base/clock.ts";
import { makeRuntimeStatus, makeSandbox } from "../../runtime/plan/__fixtures__/runtime-status.ts";
import type { ContainerRuntimeStatus, PodRuntimeStatus } from "../../runtime/reading/pod-runtime-status.ts";
import { GOLDEN_STATUSES } from "./__fixtures__/golden-statuses.ts";
import { makeStatusInput } from "./__fixtures__/status-input.ts";
import { computePodStatus } from "./compute-pod-status.ts";
import { isPodStatusEqual } from "./pod-status-equal.ts";
import type { WaitingReason } from "./pod-status-input.ts";

describe.each(GOLDEN_STATUSES.map(({ pod, status }) => [pod.metadata?.name, pod, status] as const))(
  "a status as a Go kubelet published it: %s",
  (_name, pod, golden) => {
    test("follows from what the runtime held", () => {
      const { podIPs = [], startTime } = golden;
      const computed = computePodStatus(inputOf(pod, golden, { podIPs, ...(startTime && { startTime }) }));
      expect(withoutTimes(comparable(computed))).toEqual(withoutTimes(golden));
    });

    test("is what it was when nothing happened since, its times included", () => {
      const computed = computePodStatus(inputOf(pod, golden, golden));
      expect(comparable(computed)).toEqual(golden);
      expect(isPodStatusEqual(comparable(computed), golden)).toBe(true);
    });
  },
);

function inputOf(pod: Pod, golden: PodStatus, previous: PodStatus) {
  const hostIps = golden.hostIP === undefined ? [] : [golden.hostIP];
  return makeStatusInput(pod, runtimeOf(pod, golden), { previous, hostIps, waiting: waitingOf(golden) });
}

/**
 * What the runtime must have said: the containers that the status tells of, in a sandbox that lives as the pod does.
 */
function runtimeOf(pod: Pod, { containerStatuses = [], initContainerStatuses = [], podIPs = [], phase }: PodStatus) {
  const hostNetwork = pod.spec?.hostNetwork === true;
  const isOver = phase === "Succeeded" || phase === "Failed";
  const ips = hostNetwork || isOver ? [] : podIPs.map(({ ip }) => ip);
  const sandbox = makeSandbox({ hostNetwork, ips, state: isOver ? "notready" : "ready" });
  const containers = [...containerStatuses, ...initContainerStatuses].flatMap((status) => [
    ...containersOf(status, status.state, status.restartCount),
    ...containersOf(status, status.lastState, status.restartCount - 1),
  ]);
  const runtime: PodRuntimeStatus = makeRuntimeStatus(containers, [sandbox]);
  return runtime;
}

function containersOf(
  status: ContainerStatus,
  state: ContainerState | undefined,
  restartCount: number,
): ContainerRuntimeStatus[] {
  const ended = state?.terminated;
  const running = state?.running;
  if (ended === undefined && running === undefined) return [];
  const startedAt = parseTime((ended ?? running)?.startedAt) ?? 0;
  return [
    {
      id: (ended?.containerID ?? status.containerID ?? "").replace("containerd://", ""),
      sandboxId: "sandbox-0",
      name: status.name,
      state: ended === undefined ? "running" : "exited",
      createdAt: startedAt,
      startedAt,
      finishedAt: parseTime(ended?.finishedAt) ?? 0,
      exitCode: ended?.exitCode ?? 0,
      hash: "",
      restartCount,
      image: status.image,
      imageId: status.imageID,
      reason: ended?.reason ?? "",
      message: ended?.message ?? "",
      logPath: "",
    },
  ];
}

function waitingOf({ containerStatuses = [] }: PodStatus): Map<string, WaitingReason> {
  const waiting = new Map<string, WaitingReason>();
  for (const { name, state } of containerStatuses) {
    const { reason, message = "" } = state?.waiting ?? {};
    if (reason !== undefined) waiting.set(name, { reason, message });
  }
  return waiting;
}

/** Without what 1.28 did not write yet: `hostIPs`, the condition PodReadyToStartContainers and all resources. */
function comparable(status: PodStatus): PodStatus {
  const { hostIPs: _hostIps, resources: _had, allocatedResources: _granted, ...known } = status;
  const { conditions = [], containerStatuses, initContainerStatuses, ...rest } = known;
  return {
    ...rest,
    ...(containerStatuses && { containerStatuses: containerStatuses.map(withoutResourceStatus) }),
    ...(initContainerStatuses && { initContainerStatuses: initContainerStatuses.map(withoutResourceStatus) }),
    conditions: conditions.filter(({ type }) => type !== "PodReadyToStartContainers"),
  };
}

function withoutResourceStatus(status: ContainerStatus): ContainerStatus {
  const { resources: _actual, allocatedResources: _granted, ...rest } = status;
  return rest;
}

function withoutTimes({ conditions = [], ...rest }: PodStatus): PodStatus {
  return { ...rest, conditions: conditions.map(({ lastTransitionTime: _time, ...condition }) => condition) };
}
