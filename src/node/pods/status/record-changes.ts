import type { ContainerStateTerminated, ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { isTerminalPhase, podReference } from "../../../api/pods.ts";
import type { Decision, Timeline } from "../../../base/timeline.ts";
import type { PodStatuses } from "./pod-statuses.ts";

interface StatusRecorderDeps {
  readonly statuses: Pick<PodStatuses, "subscribe">;
  readonly timeline: Pick<Timeline, "record">;
}

/** Records in the pods' timelines what their statuses tell anew: ends of containers, readiness, the last phase. */
export function recordStatusChanges({ statuses, timeline }: StatusRecorderDeps): void {
  statuses.subscribe(({ pod, status }, previous) => {
    for (const decision of describeChanges(status, previous)) timeline.record(podReference(pod), decision);
  });
}

function describeChanges(status: PodStatus, previous: PodStatus): Decision[] {
  const known = new Set(
    allContainers(previous)
      .flatMap(endsOf)
      .map(({ containerID }) => containerID),
  );
  const ended = allContainers(status).flatMap((container) =>
    endsOf(container)
      .filter(({ containerID }) => containerID !== undefined && !known.has(containerID))
      .map((end) => describeEnd(container.name, end)),
  );
  const isReady = hasReadiness(status);
  const readiness: Decision[] =
    isReady === hasReadiness(previous)
      ? []
      : [
          {
            type: "Normal",
            reason: isReady ? "PodReady" : "PodNotReady",
            message: `Pod is ${isReady ? "" : "not "}ready`,
          },
        ];
  const { phase, reason, message } = status;
  const isOver = isTerminalPhase(phase) && phase !== previous.phase;
  const why = [reason, message].filter((text) => text !== undefined && text !== "").join(": ");
  const over: Decision = {
    type: phase === "Failed" ? "Warning" : "Normal",
    reason: `Pod${phase}`,
    message: why === "" ? `Pod has ${phase === "Failed" ? "failed" : "succeeded"}` : why,
  };
  return [...ended, ...readiness, ...(isOver ? [over] : [])];
}

function describeEnd(container: string, { exitCode, signal, reason, message }: ContainerStateTerminated): Decision {
  const by = signal === undefined || signal === 0 ? "" : ` by signal ${signal}`;
  const why = [reason, message?.trim()].filter((text) => text !== undefined && text !== "").join(", ");
  return {
    type: exitCode === 0 ? "Normal" : "Warning",
    reason: "Exited",
    message: `Container ended with exit code ${exitCode}${by}${why === "" ? "" : `: ${why}`}`,
    container,
  };
}

function endsOf({ state, lastState }: ContainerStatus): ContainerStateTerminated[] {
  return [lastState?.terminated, state?.terminated].filter((end) => end !== undefined);
}

function allContainers(status: PodStatus): ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status;
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];
}

function hasReadiness({ conditions = [] }: PodStatus): boolean {
  return conditions.some(({ type, status }) => type === "Ready" && status === "True");
}
