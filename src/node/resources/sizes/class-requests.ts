/** What pods ask for: thousandths of a core, and memory. */
export interface PodAmounts {
  readonly milliCpu: bigint;
  readonly memoryBytes: bigint;
}

/** What the pods of each QoS class ask for together. */
export type ClassRequests = Readonly<Record<"Guaranteed" | "Burstable", PodAmounts>>;

/** The requests of classes without pods. */
export const NO_CLASS_REQUESTS: ClassRequests = {
  Guaranteed: { milliCpu: 0n, memoryBytes: 0n },
  Burstable: { milliCpu: 0n, memoryBytes: 0n },
};
