import { compareQuantities, subtractQuantities } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import { computeReserved, type NodeReservations } from "../capacity/node-reservations.ts";
import { computeSharedCgroup } from "../sizes/cgroup-size.ts";

/** What the limits of the cgroup of all pods are computed from. */
export interface AllPodsLimitsInput {
  readonly capacity: Readonly<ResourceList>;
  /** The highest number of processes on the machine; undefined where the kernel has no such limit. */
  readonly maxTasks: number | undefined;
  readonly reservations: NodeReservations;
  /** False: memory is not limited. */
  readonly hasMemoryController: boolean;
  /**
   * True when `enforceNodeAllocatable` names `pods`: pods are then limited to the node's resources without the reserved
   * ones.
   */
  readonly isEnforced: boolean;
}

/**
 * Computes what all pods together may use. The thresholds of evictions are not subtracted here: evictions act before
 * the kernel's limit does (upstream: `GetNodeAllocatableAbsolute`, cm/node_container_manager_linux.go).
 */
export function computeAllPodsLimits(input: AllPodsLimitsInput): CgroupLimits {
  const { maxTasks, reservations, isEnforced } = input;
  const { cpu = "0", memory = "0" } = input.capacity;
  const ofMemory = input.hasMemoryController && { memory };
  const capacity: ResourceList = { cpu, ...ofMemory, ...(maxTasks !== undefined && { pid: String(maxTasks) }) };
  const resources = isEnforced ? computeRest(capacity, reservations) : capacity;
  return computeSharedCgroup(resources, { compressibleOnly: false });
}

function computeRest(capacity: ResourceList, reservations: NodeReservations): ResourceList {
  const withoutEvictions = { ...reservations, evictionHard: {} };
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => {
      const rest = subtractQuantities(amount, computeReserved(name, capacity, withoutEvictions));
      return [name, compareQuantities(rest, "0") < 0 ? "0" : rest];
    }),
  );
}
