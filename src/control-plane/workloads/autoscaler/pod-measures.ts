import type { Pod } from "../../../api/gen/types.ts";
import { isRecord, type KubeObject } from "../../../api/object.ts";
import { parseQuantity, quantityMilliValue } from "../../../api/quantity.ts";
import { parseTime } from "../../../base/clock.ts";
import { parseDuration } from "../../../config/duration.ts";

/** What one pod uses of one resource. */
export interface PodMeasure {
  /** When that was, in milliseconds since the epoch. */
  readonly at: number;
  /** The time of which it is a mean. */
  readonly windowMs: number;
  /** Thousandths of a processor, of a byte, and so on. */
  readonly milliValue: bigint;
}

/** By the pods' names; the pods are of one namespace. */
export type PodMeasures = ReadonlyMap<string, PodMeasure>;

/** The resource that is measured. */
export interface MeasuredResource {
  /** `cpu`, `memory`. */
  readonly name: string;
  /** The container that is measured; undefined for the sum of all. */
  readonly container: string | undefined;
}

/** What pods use, by their PodMetrics. A pod is missing where what is asked for is not known of it. */
export function measurePods(metrics: readonly KubeObject[], resource: MeasuredResource): PodMeasures {
  const measures = metrics.flatMap((object): Array<[string, PodMeasure]> => {
    const milliValue = sumUsage(object, resource);
    if (milliValue === undefined) return [];
    const { timestamp, window } = object;
    const at = typeof timestamp === "string" ? (parseTime(timestamp) ?? 0) : 0;
    const windowMs = typeof window === "string" ? (parseDuration(window) ?? 0) : 0;
    return [[object.metadata.name ?? "", { at, windowMs, milliValue }]];
  });
  return new Map(measures);
}

function sumUsage({ containers }: KubeObject, { name, container }: MeasuredResource): bigint | undefined {
  const all = Array.isArray(containers) ? containers.filter(isRecord) : [];
  const measured = container === undefined ? all : all.filter((candidate) => candidate["name"] === container);
  if (measured.length === 0) return undefined;
  let sum = 0n;
  for (const { usage } of measured) {
    const amount = isRecord(usage) ? usage[name] : undefined;
    if (typeof amount !== "string" || parseQuantity(amount) === undefined) return undefined;
    sum += quantityMilliValue(amount);
  }
  return sum;
}

/** The pod's name, by which measures are found. */
export const measuredPodName = ({ metadata }: Pod): string => metadata?.name ?? "";
