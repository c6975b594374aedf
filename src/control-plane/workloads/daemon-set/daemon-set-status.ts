import type { DaemonSetStatus } from "../../../api/gen/types.ts";
import { isPodReady } from "../../../api/pods.ts";
import { isPodAvailable } from "../pod-control/pod-standing.ts";
import { isUpToDate } from "./daemon-pod.ts";
import type { DaemonView } from "./plan-daemon-set.ts";

/** Counts nodes, and of each node the pod that has been there longest. */
export function computeDaemonSetStatus({ set, hash, now, nodes }: DaemonView): DaemonSetStatus {
  const wanted = nodes.filter(({ shouldRun }) => shouldRun);
  const served = wanted.flatMap(({ pods }) => pods.slice(0, 1));
  const available = served.filter((pod) => isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, now)).length;
  const { generation } = set.metadata ?? {};
  const { collisionCount, conditions } = set.status ?? {};
  const optional = {
    updatedNumberScheduled: served.filter((pod) => isUpToDate(set, pod, hash)).length,
    numberAvailable: available,
    numberUnavailable: wanted.length - available,
  };
  return {
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions && { conditions }),
    ...(generation !== undefined && { observedGeneration: generation }),
    currentNumberScheduled: served.length,
    desiredNumberScheduled: wanted.length,
    numberMisscheduled: nodes.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    numberReady: served.filter(isPodReady).length,
    ...Object.fromEntries(Object.entries(optional).filter(([, count]) => count > 0)),
  };
}
