import { addQuantities, compareQuantities, subtractQuantities } from "../../api/quantity.ts";
import { amountOf, type ResourceList } from "../../api/resources.ts";

/** What is in use, or may be, by the names that quotas have for it (`requests.cpu`, `count/secrets`). */
export type QuotaUsage = Readonly<ResourceList>;

/** The sum, in canonical quantities. */
export function addUsage(a: QuotaUsage, b: QuotaUsage): ResourceList {
  const sum: ResourceList = { ...a };
  for (const [name, amount] of Object.entries(b)) sum[name] = addQuantities(amountOf(sum, name) ?? "0", amount);
  return sum;
}

/** What `next` has in use beyond `current`, without what became less. */
export function growthOf(next: QuotaUsage, current: QuotaUsage): ResourceList {
  const growth: ResourceList = {};
  for (const [name, amount] of Object.entries(next)) {
    const more = subtractQuantities(amount, amountOf(current, name) ?? "0");
    if (compareQuantities(more, "0") > 0) growth[name] = more;
  }
  return growth;
}

/** The usage of these resources alone. */
export function selectUsage(usage: QuotaUsage, names: readonly string[]): ResourceList {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(usage, name) ? [[name, usage[name] ?? "0"]] : [])));
}

/** True when both have the same resources with amounts that are worth the same, however they are written. */
export function isSameUsage(a: QuotaUsage = {}, b: QuotaUsage = {}): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => {
    const other = amountOf(b, name);
    return other !== undefined && compareQuantities(a[name] ?? "0", other) === 0;
  });
}

/** `cpu=1,memory=1Gi`, in order of the names. */
export function showUsage(usage: QuotaUsage): string {
  return Object.keys(usage)
    .sort()
    .map((name) => `${name}=${usage[name]}`)
    .join(",");
}
