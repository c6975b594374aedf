import type { Cluster, PendingPod } from "../cluster.ts";
import { createDevicePlanner } from "../devices/plan-devices.ts";
import type { NodeFilter } from "./filter.ts";

/** Checks that the node reaches the devices of the pod's claims, or has devices for them (`plugins/dynamicresources`). */
export function filterDevices(pod: PendingPod, cluster: Cluster): NodeFilter | undefined {
  if (pod.deviceClaims.length === 0) return undefined;
  const plan = createDevicePlanner(pod, cluster);
  return (node) => {
    const planned = plan(node);
    return "reason" in planned ? { reasons: [planned.reason], isFinal: true } : undefined;
  };
}
