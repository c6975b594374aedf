import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { PodStatuses } from "./pod-statuses.ts";

type StatusField = "initContainerStatuses" | "containerStatuses" | "ephemeralContainerStatuses";

const TYPES: ReadonlyArray<readonly [StatusField, string]> = [
  ["initContainerStatuses", "init_container"],
  ["containerStatuses", "container"],
  ["ephemeralContainerStatuses", "ephemeral_container"],
];

/**
 * Counts the containers that a pod's status shows as terminated and the status before it did not. A container that ends
 * and starts again between two statuses is not counted (upstream: `updateStatusInternal`,
 * pkg/kubelet/status/status_manager.go).
 */
export function countContainerEnds(metrics: Metrics, statuses: Pick<PodStatuses, "subscribe">): void {
  const ends = metrics.counter("kubelet_terminated_containers_total", "Cumulative number of container terminations.", [
    "container_type",
    "exit_code",
    "reason",
  ]);
  statuses.subscribe(({ status }, previous) => {
    for (const [field, container_type] of TYPES) {
      for (const { exitCode, reason = "" } of findEnds(status, previous, field)) {
        ends.add({ container_type, exit_code: String(exitCode), reason });
      }
    }
  });
}

function findEnds(status: PodStatus, previous: PodStatus, field: StatusField) {
  const before = previous[field];
  const hadEnded = ({ name }: ContainerStatus) =>
    before?.find((container) => container.name === name)?.state?.terminated !== undefined;
  return (status[field] ?? []).flatMap((container) => {
    const ended = container.state?.terminated;
    return ended === undefined || hadEnded(container) ? [] : [ended];
  });
}
