import { typed } from "../../../../src/api/object.ts";
import { isPodReady, isTerminalPhase, podUid } from "../../../../src/api/pods.ts";
import { isActive, isEndedByTaint, isStanding, newlyEnded, ownerOf, podsOf, type StoredPod } from "../pods-of.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

const RESOURCE = "statefulsets.apps";

const ordinalOf = ({ metadata }: StoredPod) => Number(metadata.name?.split("-").at(-1));

/** The pods of an ordered set come and go one by one: each is made when all before it serve. */
export function createStatefulCheck(world: ControlPlaneWorld): LedgerCheck {
  const { ledger, disturbances, fail } = world;
  return {
    changed(entry) {
      const { type, resource, object } = entry;
      if (resource === RESOURCE) {
        const { metadata, spec, status } = typed("StatefulSet", object);
        const isSeen = status?.observedGeneration === metadata.generation && status?.readyReplicas === spec?.replicas;
        // A pod that is ending is ready for a while.
        if (isSeen && podsOf(ledger, object).every(isActive)) disturbances.settle(metadata.name ?? "");
      }
      const ended = newlyEnded(entry);
      const changed = ended ?? (resource === "pods" && type === "ADDED" ? typed("Pod", object) : undefined);
      const owner = changed && ownerOf(ledger, changed, RESOURCE, "StatefulSet");
      if (changed === undefined || !isStanding(owner)) return;
      const set = typed("StatefulSet", owner);
      const name = set.metadata.name ?? "";
      const isAsked = disturbances.endedPods.has(podUid(changed)) || world.evictions.has(podUid(changed));
      const isForeign = isAsked || isEndedByTaint(changed);
      if (set.spec?.podManagementPolicy === "Parallel" || disturbances.isDisturbed(name) || isForeign) return;
      const others = podsOf(ledger, set).filter((pod) => podUid(pod) !== podUid(changed));
      if (ended === undefined) {
        const ordinal = ordinalOf(changed);
        const serving = others.filter((pod) => ordinalOf(pod) < ordinal && isPodReady(pod));
        if (serving.length === ordinal) return;
        fail("an ordered set grows pod by pod", `${name} got its ordinal ${ordinal} with ${serving.length} before it`);
      } else {
        const ending = others.filter(
          ({ metadata, status }) => metadata.deletionTimestamp !== undefined && !isTerminalPhase(status?.phase),
        );
        if (ending.length === 0) return;
        const text = `${changed.metadata.name} is to end while ${ending[0]?.metadata.name} is ending`;
        fail("an ordered set ends one pod at a time", text);
      }
    },
  };
}
