import type { LimitRangeItem } from "../../api/gen/types.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/resources.ts";
import { assert } from "../../base/assert.ts";

interface Usage {
  requests: ResourceList;
  limits: ResourceList;
}

/** The violations of the item's bounds by the usage, in upstream's words and in order of the resources' names. */
export function findViolations(item: LimitRangeItem, usage: Usage): string[] {
  return [
    ...each(item.min, (name, bound) => checkMin(item.type, [name, bound], usage)),
    ...each(item.max, (name, bound) => checkMax(item.type, [name, bound], usage)),
    ...each(item.maxLimitRequestRatio, (name, bound) => checkRatio(item.type, [name, bound], usage)),
  ];
}

/** Does the same as `findViolations` for claims, which have requests only. */
export function findClaimViolations(item: LimitRangeItem, requests: ResourceList): string[] {
  return [
    ...each(item.min, (name, bound) => checkMin(item.type, [name, bound], { requests, limits: {} })),
    ...each(item.max, (name, bound) => {
      const rule = `maximum ${name} usage per ${item.type} is ${bound}`;
      const request = requests[name];
      if (request === undefined) return `${rule}.  No request is specified`;
      return compareQuantities(request, bound) > 0 ? `${rule}, but request is ${request}` : undefined;
    }),
  ];
}

function each(bounds: ResourceList | undefined, check: (name: string, bound: string) => string | undefined): string[] {
  const sorted = Object.entries(bounds ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([name, bound]) => check(name, bound) ?? []);
}

type Bound = readonly [name: string, bound: string];

function checkMin(type: string, [name, bound]: Bound, { requests, limits }: Usage): string | undefined {
  const rule = `minimum ${name} usage per ${type} is ${bound}`;
  const request = requests[name];
  const limit = limits[name];
  if (request === undefined) return `${rule}.  No request is specified`;
  if (compareQuantities(request, bound) < 0) return `${rule}, but request is ${request}`;
  if (limit !== undefined && compareQuantities(limit, bound) < 0) return `${rule}, but limit is ${limit}`;
  return undefined;
}

function checkMax(type: string, [name, bound]: Bound, { requests, limits }: Usage): string | undefined {
  const rule = `maximum ${name} usage per ${type} is ${bound}`;
  const request = requests[name];
  const limit = limits[name];
  if (limit === undefined) return `${rule}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0) return `${rule}, but limit is ${limit}`;
  if (request !== undefined && compareQuantities(request, bound) > 0) return `${rule}, but request is ${request}`;
  return undefined;
}

function checkRatio(type: string, [name, bound]: Bound, { requests, limits }: Usage): string | undefined {
  const rule = `${name} max limit to request ratio per ${type} is ${bound}`;
  const request = nanosOf(requests[name] ?? "0");
  const limit = nanosOf(limits[name] ?? "0");
  if (request === 0n) return `${rule}, but no request is specified or request is 0`;
  if (limit === 0n) return `${rule}, but no limit is specified or limit is 0`;
  // This is limit / request > bound without the division; both sides are in nanos of nanos.
  if (limit * nanosOf("1") <= nanosOf(bound) * request) return undefined;
  return `${rule}, but provided ratio is ${(Number(limit) / Number(request)).toFixed(6)}`;
}

function nanosOf(text: string): bigint {
  const quantity = parseQuantity(text);
  assert(quantity !== undefined, `not a quantity: ${text}`);
  return quantity.nanos;
}
