import type { Pod } from "../../../../src/api/gen/types.ts";
import { typed } from "../../../../src/api/object.ts";
import { isTerminalPhase } from "../../../../src/api/pods.ts";
import { parseTime } from "../../../../src/base/clock.ts";
import { NAMESPACE } from "../ledger.ts";
import type { ControlPlaneWorld } from "../world.ts";
import type { LedgerCheck } from "./check.ts";

/** No pod is made beyond what a quota allows. */
export function createQuotaCheck({ ledger, clock, fail }: ControlPlaneWorld): LedgerCheck {
  return {
    changed({ type, resource, object }) {
      if (resource !== "pods" || type !== "ADDED" || object.metadata.namespace !== NAMESPACE) return;
      const quota = ledger.get("resourcequotas", "limit");
      if (quota === undefined) return;
      // Admission charges by the status, which the quota's controller makes of the specification.
      const { pods: hard } = typed("ResourceQuota", quota).status?.hard ?? {};
      if (hard === undefined) return;
      const count = ledger.list("pods").filter((pod) => isCharged(typed("Pod", pod), clock.now())).length;
      if (count > Number(hard)) fail("no pod is made beyond a quota", `${count} pods of ${hard}`);
    },
  };
}

/** A pod that should have ended by now does not count any more, as upstream. */
function isCharged({ metadata, status }: Pod, now: number): boolean {
  return !isTerminalPhase(status?.phase) && (parseTime(metadata?.deletionTimestamp) ?? now) >= now;
}
