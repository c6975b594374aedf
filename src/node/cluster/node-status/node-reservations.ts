import { addQuantities, formatQuantity, parseQuantity, quantityValue } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";

/** What of the machine is not for pods, as the configuration says it; validated there. */
export interface NodeReservations {
  readonly kubeReserved: Readonly<ResourceList>;
  readonly systemReserved: Readonly<ResourceList>;
  /** `0-3,8`: cores that are the system's, in place of amounts of cpu. Empty for none. */
  readonly reservedSystemCpus: string;
  /** Signal to threshold, an amount or a percentage: pods are evicted below it, so it is not theirs to use. */
  readonly evictionHard: Readonly<Record<string, string>>;
}

/** The signals whose thresholds are set aside; the others bound no resource of the node (upstream: cm/node_container_manager_linux.go). */
const SIGNALS: Readonly<Record<string, string>> = {
  memory: "memory.available",
  "ephemeral-storage": "nodefs.available",
};

/** How much of one resource is set aside. */
export function computeReserved(
  name: string,
  capacity: Readonly<ResourceList>,
  reservations: NodeReservations,
): string {
  const { kubeReserved, systemReserved, reservedSystemCpus, evictionHard } = reservations;
  // Cores that were named win over amounts, as upstream's --reserved-cpus does.
  if (name === "cpu" && reservedSystemCpus !== "") return String(countCpus(reservedSystemCpus));
  const threshold = evictionHard[SIGNALS[name] ?? ""];
  const parts = [
    systemReserved[name],
    kubeReserved[name],
    threshold === undefined ? undefined : thresholdAmount(threshold, capacity[name] ?? "0"),
  ];
  return parts.filter((part) => part !== undefined).reduce(addQuantities, "0");
}

/** A percentage is a 32-bit float upstream, and the digits that come of it are what users compare. 0 and 100 % are none. */
function thresholdAmount(threshold: string, capacity: string): string {
  const percent = /^(.*)%$/.exec(threshold)?.[1];
  if (percent === undefined) return threshold;
  const share = Math.fround(Math.fround(Number(percent)) / 100);
  if (share === 0 || share === 1) return "0";
  const bytes = BigInt(Math.trunc(Number(quantityValue(capacity)) * share));
  return formatQuantity({ nanos: bytes * 10n ** 9n, format: parseQuantity(capacity)?.format ?? "BinarySI" });
}

function countCpus(list: string): number {
  const cpus = list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
  });
  return new Set(cpus).size;
}
