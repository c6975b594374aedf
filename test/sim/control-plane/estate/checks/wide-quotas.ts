import { typed } from "../../../../../src/api/object.ts";
import type { LedgerCheck } from "../../checks/check.ts";
import { NAMESPACE } from "../../ledger.ts";
import type { ControlPlaneWorld } from "../../world.ts";
import { amountOf, countUsed, MEASURED_RESOURCES } from "../count-used.ts";

/** No object is made beyond what a quota allows, of whatever it limits. */
export function createWideQuotaCheck(world: ControlPlaneWorld): LedgerCheck {
  const { ledger, clock, fail } = world;
  return {
    changed({ type, resource, object }) {
      if (type !== "ADDED" || object.metadata.namespace !== NAMESPACE) return;
      for (const quota of ledger.list("resourcequotas")) {
        const { hard = {} } = typed("ResourceQuota", quota).status ?? {};
        for (const name of MEASURED_RESOURCES.get(resource) ?? []) {
          const limit = hard[name];
          if (limit === undefined) continue;
          const used = countUsed(ledger, name, clock.now());
          const most = amountOf(limit);
          if (used > most)
            fail("nothing is made beyond a quota", `${quota.metadata.name}: ${used} of ${name} ${limit}`);
        }
      }
    },
  };
}
