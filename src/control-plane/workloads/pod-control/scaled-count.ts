import type { IntOrString } from "../../../api/gen/types.ts";

/**
 * The number that a count or a percentage of the total stands for (`GetScaledValueFromIntOrPercent`). Undefined for an
 * absent value and for a text that is no percentage, which validation refuses.
 */
export function scaledCount(
  value: IntOrString | undefined,
  total: number,
  rounding: "up" | "down",
): number | undefined {
  if (typeof value !== "string") return value;
  const percent = /^(\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return undefined;
  const exact = (Number(percent) * total) / 100;
  return rounding === "up" ? Math.ceil(exact) : Math.floor(exact);
}
