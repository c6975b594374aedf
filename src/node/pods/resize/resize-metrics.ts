import type { Container, Pod, PodCondition } from "../../../api/gen/types.ts";
import { podContainers, podUid } from "../../../api/pods.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { Metrics } from "../../../base/metrics.ts";

/** Why resizes that had to wait are looked at again, as upstream labels it. */
export type RetryTrigger = "pods_added" | "pods_removed" | "pod_terminated" | "pod_updated" | "pod_resized";

/** Counts what is asked for and what becomes of it (upstream: pkg/kubelet/metrics/metrics.go). */
export interface ResizeMetrics {
  /** The pods of the node as their sources want them now; says what changed since they were seen last. */
  see(pods: readonly Pod[], isNamed: (uid: string) => boolean): RetryTrigger;
  infeasible(detail: string): void;
  acceptedLater(trigger: RetryTrigger): void;
}

export function createResizeMetrics(metrics: Metrics): ResizeMetrics {
  const requested = metrics.counter(
    "kubelet_container_requested_resizes_total",
    "Number of requested resizes, counted at the container level.",
    ["resource", "requirement", "operation"],
  );
  const infeasible = metrics.counter("kubelet_pod_infeasible_resizes_total", "Number of infeasible resizes for pods.", [
    "reason_detail",
  ]);
  const accepted = metrics.counter(
    "kubelet_pod_deferred_accepted_resizes_total",
    "Cumulative number of resizes that were accepted after being deferred.",
    ["retry_trigger"],
  );
  let seen = new Map<string, Pod>();
  return {
    see(pods, isNamed) {
      const before = seen;
      seen = new Map(pods.map((pod) => [podUid(pod), pod]));
      const gone = [...before.keys()].filter((uid) => !seen.has(uid));
      let isUpdated = false;
      for (const [uid, pod] of seen) {
        const last = before.get(uid);
        if (last === undefined || last === pod) continue;
        for (const labels of listRequests(last, pod)) {
          requested.add(labels);
          isUpdated = true;
        }
      }
      if (gone.length > 0) return gone.some((uid) => !isNamed(uid)) ? "pods_removed" : "pod_terminated";
      if (pods.some((pod) => !before.has(podUid(pod)))) return "pods_added";
      return isUpdated ? "pod_updated" : "pod_resized";
    },
    infeasible: (detail) => infeasible.add({ reason_detail: detail }),
    acceptedLater: (trigger) => accepted.add({ retry_trigger: trigger }),
  };
}

/** Makes a function that shows how many resizes wait and are under way. */
export function createResizeGauges(metrics: Metrics): (conditions: Iterable<readonly PodCondition[]>) => void {
  const pending = metrics.gauge("kubelet_pod_pending_resizes", "Number of pending resizes for pods.", ["reason"]);
  const inProgress = metrics.gauge("kubelet_pod_in_progress_resizes", "Number of in-progress resizes for pods.");
  return (conditions) => {
    const all = [...conditions].flat();
    const counts = new Map<string, number>();
    for (const { type, reason = "" } of all) {
      if (type === "PodResizePending") counts.set(reason.toLowerCase(), (counts.get(reason.toLowerCase()) ?? 0) + 1);
    }
    pending.reset();
    for (const [reason, count] of counts) pending.set(count, { reason });
    inProgress.set(all.filter(({ type }) => type === "PodResizeInProgress").length);
  };
}

/** The changes of amounts between two versions of a pod, as labels. */
function listRequests(before: Pod, after: Pod) {
  const old = new Map(podContainers(before).map(({ container }) => [container.name, container]));
  return podContainers(after).flatMap(({ container }) => {
    const last = old.get(container.name);
    if (last === undefined) return [];
    return (["memory", "cpu"] as const).flatMap((resource) =>
      (["requests", "limits"] as const).flatMap((requirement) => {
        const operation = operationOf(
          amountOf(last, requirement, resource),
          amountOf(container, requirement, resource),
        );
        return operation === undefined ? [] : [{ resource, requirement, operation }];
      }),
    );
  });
}

function amountOf({ resources }: Container, requirement: "requests" | "limits", resource: string): string {
  return resources?.[requirement]?.[resource] ?? "0";
}

function operationOf(before: string, after: string): string | undefined {
  const order = compareQuantities(after, before);
  if (order === 0) return undefined;
  if (compareQuantities(before, "0") === 0) return "add";
  if (compareQuantities(after, "0") === 0) return "remove";
  return order > 0 ? "increase" : "decrease";
}
