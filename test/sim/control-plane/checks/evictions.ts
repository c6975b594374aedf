import { typed } from "../../../../src/api/object.ts";
import { isPodReady, podUid } from "../../../../src/api/pods.ts";
import { isActive, isStanding, newlyEnded, ownerOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const OWNERS = [
  ["replicasets.apps", "ReplicaSet"],
  ["statefulsets.apps", "StatefulSet"],
] as const;

/** An eviction leaves as many healthy pods as the budget says, as long as nothing but evictions takes any. */
export function createEvictionCheck({ ledger, evictions, disturbances, fail }: ControlPlaneWorld): LedgerCheck {
  /** When the budget counted last, this pod was one of those that are healthy: what happened since is not its fault. */
  const stale = new Set<string>();
  return {
    changed(entry) {
      const { type, resource, object, previous } = entry;
      if (resource === "poddisruptionbudgets.policy") stale.delete(object.metadata.name ?? "");
      if (resource !== "pods") return;
      const app = object.metadata.labels?.["app"] ?? "";
      const ended = newlyEnded(entry);
      // Somebody may have deleted it, or its owner, after its eviction was refused: one that was granted is told on the pod.
      const isEvicted =
        ended !== undefined &&
        evictions.has(podUid(ended)) &&
        ended.status?.conditions?.some(({ reason }) => reason === "EvictionByEvictionAPI") === true &&
        !disturbances.endedPods.has(podUid(ended)) &&
        OWNERS.some(([resource, kind]) => isStanding(ownerOf(ledger, ended, resource, kind)));
      if (isEvicted && isPodReady(ended)) checkBudget(app, ended);
      const wasHealthy =
        previous !== undefined && isActive(typed("Pod", previous)) && isPodReady(typed("Pod", previous));
      const isHealthy = type !== "DELETED" && isActive(typed("Pod", object)) && isPodReady(typed("Pod", object));
      if (wasHealthy && !isHealthy && !isEvicted) stale.add(app);
    },
  };

  function checkBudget(app: string, ended: ReturnType<typeof newlyEnded> & object): void {
    const found = ledger.get("poddisruptionbudgets.policy", app);
    if (found === undefined || stale.has(app)) return;
    const budget = typed("PodDisruptionBudget", found);
    if (budget.status?.observedGeneration !== budget.metadata.generation) return;
    const healthy = ledger
      .list("pods")
      .map((pod) => typed("Pod", pod))
      .filter((pod) => pod.metadata.labels?.["app"] === app && isActive(pod) && isPodReady(pod));
    const least = budget.spec?.minAvailable;
    // What a share comes to is the budget's to say, and changes with the workload.
    if (typeof least !== "number") return;
    if (healthy.length >= least) return;
    fail("an eviction leaves enough pods", `${ended.metadata.name} went, ${healthy.length} of ${least} are left`);
  }
}
