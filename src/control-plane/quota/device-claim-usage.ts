import type { DeviceRequest } from "../../api/gen/types.ts";
import { type ObjectOf, typed } from "../../api/object.ts";
import { addUsage, type QuotaUsage } from "./quota-amounts.ts";
import { countName, type UsageRule } from "./usage-rule.ts";

const COUNT = countName("resourceclaims.resource.k8s.io");
const BY_CLASS = ".deviceclass.resource.k8s.io/devices";
/** A claim for all devices that there are may get as many, which is the most that one claim can have. */
const MOST_DEVICES = 32;

/** Claims of devices: their number, and how many devices of each class they may get (`resource_claims.go`). */
export const DEVICE_CLAIM_USAGE: UsageRule = {
  counts: (name) => name === COUNT || name.endsWith(BY_CLASS),
  usageOf: (object) => usageOfClaim(typed("ResourceClaim", object)),
  isInScope: () => false,
  isCharged: ({ operation, subresource }) => {
    return subresource === "" && (operation === "CREATE" || operation === "UPDATE");
  },
};

function usageOfClaim({ spec }: ObjectOf<"ResourceClaim">): QuotaUsage {
  const requests = spec.devices?.requests ?? [];
  return requests.map(usageOfRequest).reduce<QuotaUsage>(addUsage, { [COUNT]: "1" });
}

/** Alternatives count as the most devices of each class that one of them may get. */
function usageOfRequest({ exactly, firstAvailable = [] }: DeviceRequest): QuotaUsage {
  const most = new Map<string, number>();
  for (const asked of firstAvailable.length > 0 || exactly === undefined ? firstAvailable : [exactly]) {
    const name = `${asked.deviceClassName}${BY_CLASS}`;
    most.set(name, Math.max(most.get(name) ?? 0, countOf(asked)));
  }
  return Object.fromEntries([...most].map(([name, count]) => [name, String(count)]));
}

/** A mode that is not known counts for nothing, as upstream. */
function countOf({ allocationMode, count }: { allocationMode?: string; count?: number }): number {
  if (allocationMode === "All") return MOST_DEVICES;
  return allocationMode === "ExactCount" ? (count ?? 0) : 0;
}
