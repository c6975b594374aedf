import { addQuantities, compareQuantities, formatQuantity } from "../../../api/quantity.ts";
import type { EvictionSignal, EvictionThreshold, ThresholdValue } from "../../../config/eviction-thresholds.ts";
import type { NodePressure } from "../../cluster/node-status/node-conditions.ts";

/** The resources for which pods are evicted, as upstream's messages and events name them. */
export type StarvedResource = "memory" | "ephemeral-storage" | "inodes" | "pids";

interface SignalFacts {
  readonly resource: StarvedResource;
  /** The pressure that the node reports while a threshold of the signal is met. */
  readonly pressure: keyof NodePressure;
  /** The format in which amounts are written. */
  readonly format: "BinarySI" | "DecimalSI";
}

const MEMORY: SignalFacts = { resource: "memory", pressure: "memory", format: "BinarySI" };
const STORAGE: SignalFacts = { resource: "ephemeral-storage", pressure: "disk", format: "BinarySI" };
const INODES: SignalFacts = { resource: "inodes", pressure: "disk", format: "DecimalSI" };

/** The facts of each signal, as pkg/kubelet/eviction/helpers.go maps them. */
export const SIGNALS: Readonly<Record<EvictionSignal, SignalFacts>> = {
  "memory.available": MEMORY,
  "allocatableMemory.available": MEMORY,
  "nodefs.available": STORAGE,
  "nodefs.inodesFree": INODES,
  "imagefs.available": STORAGE,
  "imagefs.inodesFree": INODES,
  "containerfs.available": STORAGE,
  "containerfs.inodesFree": INODES,
  "pid.available": { resource: "pids", pressure: "pid", format: "DecimalSI" },
};

/** How much is left of a signal's resource, and how much there is in total, in bytes or pieces. */
export interface SignalObservation {
  readonly available: number;
  readonly capacity: number;
  /** What the kernel counts as used memory but would give back: pages of files that were not used lately. */
  readonly reclaimable?: number;
  /** The time of the reading, in milliseconds of `Clock.monotonic`. */
  readonly at: number;
}

/** The observations by signal. A signal that could not be read is missing. */
export type SignalObservations = ReadonlyMap<EvictionSignal, SignalObservation>;

const NANOS = 10n ** 9n;

/**
 * Returns the threshold as a canonical quantity. A share is written as bytes for every resource, as upstream does
 * (`GetThresholdQuantity`).
 */
export function thresholdQuantity(value: ThresholdValue, capacity: number): string {
  if (value.kind === "quantity") return value.quantity;
  return formatAmount(capacity * value.share, "BinarySI");
}

/** Formats an amount of whole bytes or pieces. */
export function formatAmount(amount: number, format: SignalFacts["format"]): string {
  return formatQuantity({ nanos: BigInt(Math.trunc(amount)) * NANOS, format });
}

/** Tells whether a threshold is hard, which means that it gives pods no time. */
export function isHard({ gracePeriodMs }: Pick<EvictionThreshold, "gracePeriodMs">): boolean {
  return gracePeriodMs === 0;
}

/**
 * Tells whether less is left than the threshold asks for. With `more`, less must be left than the threshold and `more`
 * together.
 */
export function isBelow(
  { value }: Pick<EvictionThreshold, "value">,
  { available, capacity }: SignalObservation,
  more?: ThresholdValue,
): boolean {
  const wanted = [value, ...(more === undefined ? [] : [more])].map((each) => thresholdQuantity(each, capacity));
  return compareQuantities(wanted.reduce(addQuantities, "0"), String(Math.trunc(available))) > 0;
}
