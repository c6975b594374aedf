import type { ResourceQuotaSpec } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { CLAIM_USAGE } from "./claim-usage.ts";
import { DEVICE_CLAIM_USAGE } from "./device-claim-usage.ts";
import { POD_USAGE } from "./pod-usage.ts";
import { addUsage, type QuotaUsage, selectUsage } from "./quota-amounts.ts";
import { scopesOf } from "./scope-selection.ts";
import { SERVICE_USAGE } from "./service-usage.ts";
import { createCountRule, type UsageRule } from "./usage-rule.ts";

const MEASURED: ReadonlyMap<string, UsageRule> = new Map([
  ["persistentvolumeclaims", CLAIM_USAGE],
  ["pods", POD_USAGE],
  ["resourceclaims.resource.k8s.io", DEVICE_CLAIM_USAGE],
  ["services", SERVICE_USAGE],
]);

/** How objects of the resource (`pods`, `crontabs.example.com`) count; undefined for events, which no quota counts. */
export function usageRuleOf(resource: string): UsageRule | undefined {
  if (resource === "events" || resource === "events.events.k8s.io") return undefined;
  return MEASURED.get(resource) ?? createCountRule(resource);
}

/** True for a resource whose objects use more than their number, and may come to use more or less. */
export function isMeasured(resource: string): boolean {
  return MEASURED.has(resource);
}

/** True when the object belongs to all scopes of the quota. */
export function isInScopes(rule: UsageRule, spec: ResourceQuotaSpec, object: KubeObject): boolean {
  return scopesOf(spec).every((scope) => rule.isInScope(scope, object));
}

interface Counting {
  readonly reader: Pick<ResourceReader, "list">;
  /** All resources whose objects a namespace may have. */
  readonly resources: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Counts what a namespace uses of the resources that the quota limits. A resource that nothing counts, such as the
 * number of objects of a kind that is not served, is left out.
 */
export function countUsage(
  spec: ResourceQuotaSpec,
  namespace: string,
  { reader, resources, now }: Counting,
): QuotaUsage {
  const limited = Object.keys(spec.hard ?? {});
  let used: QuotaUsage = {};
  for (const resource of resources) {
    const rule = usageRuleOf(resource);
    const names = rule === undefined ? [] : limited.filter((name) => rule.counts(name));
    if (rule === undefined || names.length === 0) continue;
    used = addUsage(used, Object.fromEntries(names.map((name) => [name, "0"])));
    for (const object of reader.list(resource, namespace)) {
      if (isInScopes(rule, spec, object)) used = addUsage(used, selectUsage(rule.usageOf(object, now), names));
    }
  }
  return used;
}
