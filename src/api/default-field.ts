import type { ObjectFieldSelector } from "./gen/types.ts";
import { formatQuantity, parseQuantity, quantityMilliValue } from "./quantity.ts";
import type { ResourceList } from "./resources.ts";

const NANOS_PER_MILLI = 1_000_000n;

/** Fills in the defaults of field references, in environment variables and the downward API's files. Sets in place. */
export function defaultFieldRef(fieldRef: ObjectFieldSelector | undefined): void {
  if (fieldRef) fieldRef.apiVersion ||= "v1";
}

/** Rounds up to thousandths, because no resource is finer than that. Sets in place. */
export function roundResources(resources: ResourceList | undefined): void {
  for (const [name, text] of Object.entries(resources ?? {})) {
    const quantity = parseQuantity(text);
    if (!resources || !quantity || quantity.nanos % NANOS_PER_MILLI === 0n) continue;
    resources[name] = formatQuantity({ ...quantity, nanos: quantityMilliValue(text) * NANOS_PER_MILLI });
  }
}
