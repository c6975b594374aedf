import { type ObjectOf, typed } from "../../../../src/api/object.ts";
import { isPodReady, isTerminalPhase, podUid } from "../../../../src/api/pods.ts";
import { computeRollingLimits } from "../../../../src/control-plane/workloads/deployments/rolling-limits.ts";
import { controllerOf, isActive, isEndedByTaint, isStanding, newlyEnded, ownerOf, podsOf } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const RESOURCE = "deployments.apps";
const SETS = "replicasets.apps";

/** What the author allowed since the deployment was last whole: in the middle of a change, either limit may hold. */
interface Bounds {
  most: number;
  least: number;
  isRecreated: boolean;
}

/**
 * There are never more pods of a deployment than its surge allows, and its controller ends no pod while too few others
 * serve. Where all pods end before others begin, no two templates run at a time.
 */
export function createRolloutCheck(world: ControlPlaneWorld): LedgerCheck {
  const { ledger, disturbances, fail } = world;
  const bounds = new Map<string, Bounds>();

  const podsOfDeployment = (deployment: ObjectOf<"Deployment">) => {
    const sets = ledger.list(SETS).filter((set) => controllerOf(set)?.uid === deployment.metadata.uid);
    return sets.flatMap((set) => podsOf(ledger, set));
  };
  const note = (deployment: ObjectOf<"Deployment">) => {
    const { metadata, spec, status } = deployment;
    const uid = metadata.uid ?? "";
    const replicas = spec?.replicas ?? 1;
    const { maxSurge, maxUnavailable } = computeRollingLimits(deployment);
    const isRecreated = spec?.strategy?.type === "Recreate";
    const now = { most: replicas + maxSurge, least: isRecreated ? 0 : replicas - maxUnavailable, isRecreated };
    const counts = [status?.replicas, status?.updatedReplicas, status?.availableReplicas];
    const isWhole =
      status?.observedGeneration === metadata.generation && counts.every((count) => (count ?? 0) === replicas);
    const before = isWhole ? undefined : bounds.get(uid);
    bounds.set(uid, {
      most: Math.max(now.most, before?.most ?? 0),
      least: Math.min(now.least, before?.least ?? now.least),
      isRecreated: now.isRecreated && (before?.isRecreated ?? true),
    });
    if (isWhole) disturbances.settle(metadata.name ?? "");
  };

  return {
    changed(entry) {
      const { type, resource, object } = entry;
      if (resource === RESOURCE && type !== "DELETED") note(typed("Deployment", object));
      const changed = newlyEnded(entry) ?? (resource === "pods" && type === "ADDED" ? object : undefined);
      const set = changed && ownerOf(ledger, changed, SETS, "ReplicaSet");
      const found = set && ownerOf(ledger, set, RESOURCE, "Deployment");
      if (changed === undefined || !isStanding(set) || !isStanding(found)) return;
      const deployment = typed("Deployment", found);
      const limits = bounds.get(found.metadata.uid ?? "");
      if (limits === undefined) return;
      const pods = podsOfDeployment(deployment);
      const name = found.metadata.name ?? "";
      if (type === "ADDED") {
        const count = pods.filter(isActive).length;
        if (count > limits.most) fail("a rollout keeps its surge", `${name} has ${count} pods of ${limits.most}`);
        const others = pods.filter(
          (pod) => controllerOf(pod)?.uid !== set.metadata.uid && !isTerminalPhase(pod.status?.phase),
        );
        if (limits.isRecreated && others.length > 0) {
          const text = `${name} got ${changed.metadata.name} beside ${others[0]?.metadata.name}`;
          fail("no two templates run at a time where pods are recreated", text);
        }
        return;
      }
      const wasOfUse = isPodReady(typed("Pod", changed));
      const isAsked = disturbances.endedPods.has(podUid(changed)) || world.evictions.has(podUid(changed));
      const isForeign = isAsked || isEndedByTaint(typed("Pod", changed));
      if (!wasOfUse || isForeign || disturbances.isDisturbed(name)) return;
      const left = pods.filter((pod) => isActive(pod) && isPodReady(pod)).length;
      if (left < limits.least) {
        fail(
          "a rollout leaves enough pods",
          `${name} has ${left} left of ${limits.least}, without ${changed.metadata.name}`,
        );
      }
    },
  };
}
