import { addQuantities, formatQuantity, parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import { parseCpuList } from "../../../base/cpu-list.ts";

/** The parts of the machine that are not for pods, as the validated configuration names them. */
export interface NodeReservations {
  readonly kubeReserved: Readonly<ResourceList>;
  readonly systemReserved: Readonly<ResourceList>;
  /** The cores that belong to the system, as in `0-3,8`; they replace the amounts of cpu. Empty for none. */
  readonly reservedSystemCpus: string;
  /** Maps a signal to its threshold, an amount or a percentage: pods are evicted below it, so they cannot use it. */
  readonly evictionHard: Readonly<Record<string, string>>;
}

/**
 * The signals whose thresholds are set aside, by resource; the other signals bound no resource of the node (upstream:
 * cm/node_container_manager_linux.go).
 */
const SIGNALS: Readonly<Record<string, string>> = {
  memory: "memory.available",
  "ephemeral-storage": "nodefs.available",
};

/** Computes how much of one resource is set aside. */
export function computeReserved(
  name: string,
  capacity: Readonly<ResourceList>,
  reservations: NodeReservations,
): string {
  const { kubeReserved, systemReserved, reservedSystemCpus, evictionHard } = reservations;
  // Named cores win over amounts, as upstream's --reserved-cpus does.
  if (name === "cpu" && reservedSystemCpus !== "") return String(parseCpuList(reservedSystemCpus)?.size ?? 0);
  const threshold = evictionHard[SIGNALS[name] ?? ""];
  const parts = [
    systemReserved[name],
    kubeReserved[name],
    threshold === undefined ? undefined : thresholdAmount(threshold, capacity[name] ?? "0"),
  ];
  return parts.filter((part) => part !== undefined).reduce(addQuantities, "0");
}

/**
 * Computes the amount of a threshold. Upstream computes percentages as 32-bit floats, and users compare the resulting
 * digits. 0 and 100 % reserve nothing.
 */
function thresholdAmount(threshold: string, capacity: string): string {
  const percent = /^(.*)%$/.exec(threshold)?.[1];
  if (percent === undefined) return threshold;
  const share = Math.fround(Math.fround(Number(percent)) / 100);
  if (share === 0 || share === 1) return "0";
  const bytes = BigInt(Math.trunc(Number(quantityValue(capacity)) * share));
  return formatQuantity({ nanos: bytes * 10n ** 9n, format: parseQuantity(capacity)?.format ?? "BinarySI" });
}
