import { formatQuantity, parseQuantity, quantityValue, subtractQuantities } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { MachineFacts } from "./machine-facts.ts";
import { computeReserved, type NodeReservations } from "./node-reservations.ts";

interface NodeCapacityOptions {
  readonly maxPods: number;
  /** 0 for no such limit. */
  readonly podsPerCore: number;
}

/** All that the machine has. */
export function computeNodeCapacity(
  machine: MachineFacts,
  { maxPods, podsPerCore }: NodeCapacityOptions,
): ResourceList {
  const { cpuCount, memoryBytes, ephemeralStorageBytes, hugepages } = machine;
  const pods = podsPerCore > 0 ? Math.min(cpuCount * podsPerCore, maxPods) : maxPods;
  return {
    cpu: String(cpuCount),
    memory: formatBytes(memoryBytes),
    ...(ephemeralStorageBytes !== undefined && { "ephemeral-storage": formatBytes(ephemeralStorageBytes) }),
    ...Object.fromEntries(
      hugepages.map(({ pageSizeBytes, pages }) => {
        return [`hugepages-${formatBytes(pageSizeBytes)}`, formatBytes(pageSizeBytes * pages)];
      }),
    ),
    pods: String(pods),
  };
}

/**
 * What of the capacity pods may have: less what is reserved; huge pages come out of memory as well, since the kernel has
 * taken them from there (upstream: pkg/kubelet/nodestatus/setters.go, MachineInfo).
 */
export function computeNodeAllocatable(capacity: ResourceList, reservations: NodeReservations): ResourceList {
  const allocatable = Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [
      name,
      subtract(amount, computeReserved(name, capacity, reservations)),
    ]),
  );
  for (const [name, amount] of Object.entries(capacity)) {
    const memory = allocatable["memory"];
    if (isHugepagesResource(name) && memory !== undefined) allocatable["memory"] = subtract(memory, amount);
  }
  return allocatable;
}

/** `hugepages-2Mi`, … */
export function isHugepagesResource(name: string): boolean {
  return name.startsWith("hugepages-");
}

/** `example.com/gpu`: of a vendor, counted in whole ones, told by device plugins or set by an administrator. */
export function isExtendedResource(name: string): boolean {
  return name.includes("/") && !name.includes("kubernetes.io/") && !name.startsWith("requests.");
}

function formatBytes(bytes: bigint): string {
  return formatQuantity({ nanos: bytes * 10n ** 9n, format: "BinarySI" });
}

function subtract(amount: string, part: string): string {
  if (quantityValue(part) === 0n && parseQuantity(part)?.nanos === 0n) return amount;
  const rest = subtractQuantities(amount, part);
  return rest.startsWith("-") ? "0" : rest;
}
