import { sleep } from "../../../base/abort.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Decision } from "../../../base/timeline.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { CgroupHierarchy, Standing } from "./cgroup-hierarchy.ts";
import { partsOfDriverPath, quoteName } from "./cgroup-name.ts";

interface NodeAllocatableDeps {
  clock: Clock;
  hierarchy: Pick<CgroupHierarchy, "standing">;
  /** Reads the limits of the cgroup of all pods. */
  readLimits(): Promise<CgroupLimits>;
  recordNodeEvent(decision: Decision): void;
}

/** A cgroup of other processes, limited to what is set aside for them. */
export interface ReservedCgroup {
  /** The path is in the form of the configuration. */
  readonly path: string;
  readonly of: "System" | "Kube";
  /** True when only resources are limited that can be taken back at any time, which is CPU time. */
  readonly compressibleOnly: boolean;
  readonly limits: CgroupLimits;
}

/** Limits the pods, and the cgroups that the configuration names, to their shares of the node. */
interface NodeAllocatable {
  /**
   * Returns when all limits are set. Rejects where a reserved cgroup cannot be limited, which means that the
   * configuration is wrong.
   */
  run(signal: AbortSignal): Promise<void>;
}

const RETRY_MS = MINUTE;
const ENFORCED = "NodeAllocatableEnforced";
const FAILED = "FailedNodeAllocatableEnforcement";

/** This is `enforceNodeAllocatableCgroups` of upstream (cm/node_container_manager_linux.go). */
export function createNodeAllocatable(
  deps: NodeAllocatableDeps,
  { reserved }: { readonly reserved: readonly ReservedCgroup[] },
): NodeAllocatable {
  const { hierarchy, recordNodeEvent } = deps;

  const enforceReserved = async (reservedCgroup: ReservedCgroup, standing: Standing): Promise<void> => {
    const { path, of, compressibleOnly, limits } = reservedCgroup;
    const { tree, driver } = standing;
    try {
      const name = partsOfDriverPath(path, driver);
      const lack = tree.findLack(standing.pathOf(name));
      if (lack !== undefined) throw new Error(`cgroup ${quoteName(name)} ${lack}`);
      await tree.limit(standing.pathOf(name), limits);
    } catch (error) {
      const what = `${of} Reserved${compressibleOnly ? " Compressible" : ""} Cgroup Limits`;
      const message = `Failed to enforce ${what} on "${path}": ${messageOf(error)}`;
      recordNodeEvent({ type: "Warning", reason: FAILED, message });
      throw new Error(message, { cause: error });
    }
    const message = `Updated limits on ${of.toLowerCase()} reserved cgroup ${path}`;
    recordNodeEvent({ type: "Normal", reason: ENFORCED, message });
  };

  /**
   * Limits the cgroup of all pods. Where pods use more than the new limit, the kernel refuses it until evictions have
   * made room.
   */
  const enforcePods = async ({ allPods, pathOf, tree }: Standing, signal: AbortSignal): Promise<void> => {
    for (;;) {
      try {
        await tree.limit(pathOf(allPods), await deps.readLimits());
        const message = "Updated Node Allocatable limit across pods";
        recordNodeEvent({ type: "Normal", reason: ENFORCED, message });
        return;
      } catch (error) {
        const message = `Failed to update Node Allocatable Limits ${quoteName(allPods)}: ${messageOf(error)}`;
        recordNodeEvent({ type: "Warning", reason: FAILED, message });
      }
      await sleep(deps.clock, RETRY_MS, signal);
    }
  };

  return {
    async run(signal) {
      const standing = await hierarchy.standing(signal);
      for (const each of reserved) await enforceReserved(each, standing);
      await enforcePods(standing, signal);
    },
  };
}
