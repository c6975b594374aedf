import { typed, untyped } from "../../api/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../ports/request.ts";
import { groupResource } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { planCharge } from "../quota/plan-charge.ts";
import { usageRuleOf } from "../quota/usage-rules.ts";
import { refusal } from "./refusal.ts";

const QUOTAS = "resourcequotas";

/**
 * Refuses what a quota of the namespace does not allow, and counts what is let in: the quota's status is written in one
 * step with the object, so that no two writes are measured against the same remainder.
 */
export function createResourceQuota(reader: Pick<ResourceReader, "list">, clock: Pick<Clock, "now">): AdmissionPlugin {
  const plan = (request: AdmissionRequest) => {
    const { kind, namespace } = request;
    // What cannot be deleted is not stored: reviews, bindings.
    if (namespace === "" || !kind.namespaced || !kind.verbs.includes("delete")) return undefined;
    const rule = usageRuleOf(groupResource(kind));
    const quotas = rule === undefined ? [] : reader.list(QUOTAS, namespace);
    if (rule === undefined || quotas.length === 0) return undefined;
    const typedQuotas = quotas.map((quota) => typed("ResourceQuota", quota));
    return planCharge(typedQuotas, request, { rule, now: clock.now() });
  };
  return {
    name: "ResourceQuota",
    validate(request) {
      const planned = plan(request);
      if (planned?.kind === "refuse") throw refusal(request, planned.reason);
    },
    accompany(request) {
      const planned = plan(request);
      if (planned?.kind !== "charge") return [];
      return planned.quotas.map((quota) => ({ resource: QUOTAS, object: untyped(quota) }));
    },
  };
}
