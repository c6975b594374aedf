import { formatQuantity, parseQuantity, quantityValue, subtractQuantities } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { CapacitySettings } from "./capacity-settings.ts";
import type { MachineInventory } from "./machine-inventory.ts";
import { computeReserved, type NodeReservations } from "./node-reservations.ts";

/** Computes all resources that the machine has. */
export function computeNodeCapacity(
  machine: MachineInventory,
  { maxPods, podsPerCore, localStorageCapacityIsolation }: Omit<CapacitySettings, "reservations">,
): ResourceList {
  const { cpuCount, memoryBytes, hugepages } = machine;
  const ephemeralStorageBytes = localStorageCapacityIsolation ? machine.ephemeralStorageBytes : undefined;
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
 * Computes which part of the capacity pods may have: the capacity without what is reserved. Huge pages are subtracted
 * from the memory as well, since the kernel has taken them from there (upstream: pkg/kubelet/nodestatus/setters.go,
 * MachineInfo).
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

/** True for `hugepages-2Mi` and the like. */
export function isHugepagesResource(name: string): boolean {
  return name.startsWith("hugepages-");
}

/**
 * True for a resource of a vendor, such as `example.com/gpu`: it is counted in whole units, and device plugins or an
 * administrator say how many there are.
 */
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
