import { quantityMilliValue } from "../../../api/quantity.ts";
import { type CpuSet, formatCpuList, parseCpuList, withoutCpus } from "../../../base/cpu-list.ts";
import type { CpuSettings } from "../../../config/cpu-settings.ts";
import { computeReserved, type NodeReservations } from "../capacity/node-reservations.ts";
import type { CpuTopology } from "./cpu-topology.ts";
import { type CpuPreferences, takeCpus } from "./take-cpus.ts";

/** How the CPUs of the machine are divided. */
export interface CpuPools {
  readonly topology: CpuTopology;
  /** The CPUs that no container has for itself. */
  readonly reserved: CpuSet;
  /** The CPUs that containers may run on at all. */
  readonly usable: CpuSet;
  /** No container runs on the reserved CPUs. */
  readonly isStrict: boolean;
}

/**
 * Sets CPUs aside: those that are named, or as many as are reserved, from the first core on. Throws, in upstream's words,
 * where nothing is reserved, or more than there is.
 */
export function reserveCpus(
  topology: CpuTopology,
  reservations: NodeReservations,
  { isReservationStrict: isStrict, ...preferences }: CpuPreferences & Pick<CpuSettings, "isReservationStrict">,
): CpuPools {
  const amount = quantityMilliValue(computeReserved("cpu", {}, reservations));
  if (amount === 0n) {
    const mend = "set kubeReserved, systemReserved or reservedSystemCPUs";
    throw new Error(
      `cpuManagerPolicy static: the static policy requires systemreserved.cpu + kubereserved.cpu to be greater than zero, ${mend}`,
    );
  }
  const all = new Set(topology.keys());
  const count = Number((amount + 999n) / 1_000n);
  const named = parseCpuList(reservations.reservedSystemCpus) ?? new Set();
  const missing = withoutCpus(named, all);
  if (missing.size > 0) {
    throw new Error(`reservedSystemCPUs: this machine has no CPUs ${formatCpuList(missing)} (${formatCpuList(all)})`);
  }
  const reserved = named.size > 0 ? named : takeCpus({ topology, available: all, wanted: count }, preferences);
  if (reserved === undefined) {
    const amounts = `${count} of ${all.size}, reserve fewer`;
    throw new Error(`cpuManagerPolicy static: unable to reserve the required amount of CPUs: ${amounts}`);
  }
  return { topology, reserved, usable: isStrict ? withoutCpus(all, reserved) : all, isStrict };
}
