import type { ResourceQuota } from "../../api/gen/types.ts";
import { compareQuantities } from "../../api/quantity.ts";
import { amountOf, type ResourceList } from "../../api/resources.ts";
import { assert } from "../../base/assert.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import { addUsage, growthOf, selectUsage, showUsage } from "./quota-amounts.ts";
import type { UsageRule } from "./usage-rule.ts";
import { isInScopes } from "./usage-rules.ts";

/** What a write does to the quotas of its namespace. */
type ChargePlan =
  /** The quotas in their next versions, which count the write; none when no quota is concerned. */
  | { readonly kind: "charge"; readonly quotas: readonly ResourceQuota[] }
  /** A quota stands against it. */
  | { readonly kind: "refuse"; readonly reason: string };

/**
 * Decides whether the namespace's quotas allow a write, and what they have in use after it
 * (`k8s.io/apiserver/pkg/admission/plugin/resourcequota`). What a quota allows and has in use is what its status says;
 * the status is behind the spec until the controller has counted.
 */
export function planCharge(
  quotas: readonly ResourceQuota[],
  request: AdmissionRequest,
  { rule, now }: { rule: UsageRule; now: number },
): ChargePlan {
  const { object, current } = request;
  if (object === undefined || quotas.length === 0 || !rule.isCharged(request)) return { kind: "charge", quotas: [] };
  const concerned = quotas.filter(
    (quota) => namesOf(quota, rule).length > 0 && isInScopes(rule, specOf(quota), object),
  );
  for (const quota of concerned) {
    const reason = findUnready(quota, namesOf(quota, rule), { rule, object });
    if (reason !== undefined) return { kind: "refuse", reason };
  }
  const usage = rule.usageOf(object, now);
  const charged: ResourceQuota[] = [];
  for (const quota of concerned) {
    const isCounted = current !== undefined && isInScopes(rule, specOf(quota), current);
    const growth = growthOf(usage, isCounted ? rule.usageOf(current, now) : {});
    const requested = selectUsage(growth, Object.keys(hardOf(quota)));
    if (Object.keys(requested).length === 0) continue;
    const used = addUsage(quota.status?.used ?? {}, requested);
    // What a status tells has happened already, so that it is counted and never refused.
    const reason = request.subresource === "status" ? undefined : findExcess(quota, requested, used);
    if (reason !== undefined) return { kind: "refuse", reason };
    charged.push({ ...quota, status: { ...quota.status, used } });
  }
  return { kind: "charge", quotas: charged };
}

const specOf = ({ spec = {} }: ResourceQuota) => spec;
const hardOf = ({ status }: ResourceQuota): ResourceList => status?.hard ?? {};
const nameOf = ({ metadata }: ResourceQuota) => metadata?.name ?? "";

/** The resources of the quota that the rule's objects use. */
function namesOf(quota: ResourceQuota, rule: UsageRule): string[] {
  return Object.keys(hardOf(quota)).filter((name) => rule.counts(name));
}

/** Why nothing can be counted: the object does not say what it uses, or the controller has not counted yet. */
function findUnready(
  quota: ResourceQuota,
  names: readonly string[],
  { rule, object }: { rule: UsageRule; object: NonNullable<AdmissionRequest["object"]> },
): string | undefined {
  const gap = rule.findGap?.(names, object);
  if (gap !== undefined) return `failed quota: ${nameOf(quota)}: ${gap}`;
  const used = quota.status?.used ?? {};
  if (names.every((name) => Object.hasOwn(used, name))) return undefined;
  return `status unknown for quota: ${nameOf(quota)}, resources: ${[...names].sort().join(",")}`;
}

function findExcess(quota: ResourceQuota, requested: ResourceList, used: ResourceList): string | undefined {
  const hard = hardOf(quota);
  const exceeded = Object.keys(requested).filter((name) => {
    const [next, limit] = [amountOf(used, name), amountOf(hard, name)];
    assert(next !== undefined && limit !== undefined, `${name} is requested of a quota that does not limit it`);
    return compareQuantities(next, limit) > 0;
  });
  if (exceeded.length === 0) return undefined;
  const show = (usage: ResourceList) => showUsage(selectUsage(usage, exceeded));
  const before = quota.status?.used ?? {};
  return `exceeded quota: ${nameOf(quota)}, requested: ${show(requested)}, used: ${show(before)}, limited: ${show(hard)}`;
}
