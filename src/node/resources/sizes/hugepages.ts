import { quantityValue } from "../../../api/quantity.ts";
import type { HugepageLimit } from "../../../cri/gen/cri-v1.ts";

const PREFIX = "hugepages-";
const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** Computes a limit for each page size of the machine: the container's limit of that size, or else 0. */
export function computeHugepageLimits(
  limits: Readonly<Record<string, string>>,
  sizes: readonly string[],
): HugepageLimit[] {
  const asked = new Map<string, bigint>();
  for (const [name, quantity] of Object.entries(limits)) {
    if (name.startsWith(PREFIX)) asked.set(cgroupPageSize(name.slice(PREFIX.length)), quantityValue(quantity));
  }
  return sizes.map((pageSize) => ({ pageSize, limit: asked.get(pageSize) ?? 0n }));
}

/** Formats a size as cgroups write it: `2Mi` becomes `2MB`, still in powers of 1024. */
function cgroupPageSize(size: string): string {
  let value = quantityValue(size);
  let unit = 0;
  while (value >= 1024n && value % 1024n === 0n && unit < UNITS.length - 1) {
    value /= 1024n;
    unit += 1;
  }
  return `${value}${UNITS[unit]}`;
}
