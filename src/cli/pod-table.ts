import type { ContainerState, Pod } from "../api/gen/types.ts";
import { computePodRow } from "../cluster/status/pod-row.ts";
import { formatTable } from "./text-table.ts";

/** The beginning of a sentence about pods of a node that is stopped: "1 pod runs", "3 pods run". */
export function describeRunningPods(count: number): string {
  return count === 1 ? "1 pod runs" : `${count} pods run`;
}

/**
 * Formats the pods by namespace and name, as `kubectl get pods -A` prints them. `wide` adds the state of each
 * container.
 */
export function formatPodTable(pods: readonly Pod[], now: number, wide: boolean): string {
  if (pods.length === 0) return "No pods.";
  const head = [
    "NAMESPACE",
    "NAME",
    "READY",
    "STATUS",
    "RESTARTS",
    "AGE",
    "IP",
    ...(wide ? ["CONTAINERS", "IMAGES"] : []),
  ];
  const rows = pods
    .map((pod) => ({ pod, row: computePodRow(pod, now) }))
    .toSorted((a, b) => `${a.row.namespace}/${a.row.name}`.localeCompare(`${b.row.namespace}/${b.row.name}`))
    .map(({ pod, row }) => [
      ...[row.namespace, row.name, row.ready, row.status, row.restarts, row.age, row.ip],
      ...(wide ? [formatContainers(pod), formatImages(pod)] : []),
    ]);
  return formatTable(head, rows);
}

function formatContainers(pod: Pod): string {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses]
    .map(({ name, state }) => `${name}=${stateWord(state)}`)
    .join(",");
}

function stateWord(state: ContainerState | undefined): string {
  if (state?.running !== undefined) return "running";
  if (state?.terminated !== undefined) return `exited(${state.terminated.exitCode})`;
  return state?.waiting?.reason ?? "waiting";
}

function formatImages(pod: Pod): string {
  const images = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].map(({ image }) => image ?? "");
  return [...new Set(images)].join(",");
}
