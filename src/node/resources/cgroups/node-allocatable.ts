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
  /** Of the cgroup of all pods. */
  readLimits(): Promise<CgroupLimits>;
  recordNodeEvent(decision: Decision): void;
}

/** A cgroup of others, held to what is set aside for them. */
export interface ReservedCgroup {
  /** As the configuration says it. */
  readonly path: string;
  readonly of: "System" | "Kube";
  /** Only what can be taken back at any time, which is processor time. */
  readonly compressibleOnly: boolean;
  readonly limits: CgroupLimits;
}

/** Holds pods, and whom the configuration names, to their shares of the node. */
interface NodeAllocatable {
  /** Returns when all are held to them. Rejects where a reserved cgroup cannot be, which is a wrong configuration. */
  run(signal: AbortSignal): Promise<void>;
}

const RETRY_MS = MINUTE;
const ENFORCED = "NodeAllocatableEnforced";
const FAILED = "FailedNodeAllocatableEnforcement";

/** Upstream: `enforceNodeAllocatableCgroups`, cm/node_container_manager_linux.go. */
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

  /** Where pods use more than they are now to have, the kernel refuses until evictions have made room. */
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
