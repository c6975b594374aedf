import type { ScopedResourceSelectorRequirement } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import type { QuotaUsage } from "./quota-amounts.ts";

/** How the objects of one resource count towards quotas. */
export interface UsageRule {
  /** True when the objects use the resource that a quota names so. */
  counts(name: string): boolean;
  /** What one object uses; `now` in milliseconds since the epoch. */
  usageOf(object: KubeObject, now: number): QuotaUsage;
  /** True when the object belongs to the scope of a quota. */
  isInScope(scope: ScopedResourceSelectorRequirement, object: KubeObject): boolean;
  /** True for a write that may use more than before. */
  isCharged(request: AdmissionRequest): boolean;
  /** Why the object cannot be counted by quotas of these resources: it does not say what it uses. */
  findGap?(names: readonly string[], object: KubeObject): string | undefined;
}

/** Older names for the numbers of some objects. */
const ALIASES: ReadonlySet<string> = new Set(["configmaps", "replicationcontrollers", "resourcequotas", "secrets"]);

/** The rule of a resource (`secrets`, `deployments.apps`) of which only the number counts. */
export function createCountRule(resource: string): UsageRule {
  const names = [countName(resource), ...(ALIASES.has(resource) ? [resource] : [])];
  const one = Object.fromEntries(names.map((name) => [name, "1"]));
  return {
    counts: (name) => names.includes(name),
    usageOf: () => one,
    isInScope: () => false,
    isCharged: ({ operation, subresource }) => operation === "CREATE" && subresource === "",
  };
}

/** The name of a resource's number of objects. */
export const countName = (resource: string): string => `count/${resource}`;
