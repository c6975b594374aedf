import { typed } from "../../../../../src/api/object.ts";
import { podUid } from "../../../../../src/api/pods.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import { isEndedByTaint, newlyEnded } from "../../pods-of.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import { TAINT_KEY } from "../estate-kinds.ts";

/** A pod is evicted from a node that has the taint, and not before its time there is over. */
export function createTaintCheck({ clock, fail }: ControlPlaneWorld): LedgerCheck {
  const taintedAt = new Map<string, number>();
  return {
    changed(entry) {
      const { resource, object } = entry;
      if (resource === "nodes") {
        const { name = "" } = object.metadata;
        const isTainted = typed("Node", object).spec?.taints?.some(({ key }) => key === TAINT_KEY) === true;
        if (!isTainted) taintedAt.delete(name);
        else if (!taintedAt.has(name)) taintedAt.set(name, clock.monotonic());
      }
      const pod = newlyEnded(entry);
      if (pod === undefined || !isEndedByTaint(pod)) return;
      const node = pod.spec?.nodeName ?? "";
      const since = taintedAt.get(node);
      const tolerated = pod.spec?.tolerations?.find(({ key }) => key === TAINT_KEY);
      const name = `${pod.metadata.name} (${podUid(pod)})`;
      // A taint that was taken away when the eviction was on its way to the disk comes too late.
      if (since === undefined) return;
      const stayedMs = clock.monotonic() - since;
      const wantedMs = tolerated === undefined ? 0 : (tolerated.tolerationSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
      if (stayedMs < wantedMs) fail("a pod stays as long as it tolerates its node", `${name} stayed ${stayedMs} ms`);
    },
  };
}
