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
  /** What is read to know how much is left, in words. */
  readonly reading: string;
}

const MEMORY = { resource: "memory", pressure: "memory", format: "BinarySI" } as const;
const STORAGE = { resource: "ephemeral-storage", pressure: "disk", format: "BinarySI" } as const;
const INODES = { resource: "inodes", pressure: "disk", format: "DecimalSI" } as const;
const nodeDisk = "the disk of the pods' directories";
const imageDisk = "the disk of the runtime's images";
const containerDisk = "the disk of the containers' writable layers";

/** The facts of each signal, as pkg/kubelet/eviction/helpers.go maps them. */
export const SIGNALS: Readonly<Record<EvictionSignal, SignalFacts>> = {
  "memory.available": { ...MEMORY, reading: "the machine's memory, less the working set of its root cgroup" },
  "allocatableMemory.available": { ...MEMORY, reading: "the limit of the cgroup of all pods, less its working set" },
  "nodefs.available": { ...STORAGE, reading: nodeDisk },
  "nodefs.inodesFree": { ...INODES, reading: nodeDisk },
  "imagefs.available": { ...STORAGE, reading: imageDisk },
  "imagefs.inodesFree": { ...INODES, reading: imageDisk },
  "containerfs.available": { ...STORAGE, reading: containerDisk },
  "containerfs.inodesFree": { ...INODES, reading: containerDisk },
  "pid.available": {
    ...{ resource: "pids", pressure: "pid", format: "DecimalSI" },
    reading: "the most processes that the kernel allows, less those that run",
  },
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
