import type { QosClass } from "../../../api/qos.ts";
import { messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { CgroupUsage } from "../../../host/cgroups-port.ts";
import { type ClassRequests, NO_CLASS_REQUESTS } from "../sizes/class-requests.ts";
import type { ClassLimits, Standing } from "./cgroup-hierarchy.ts";
import type { CgroupName } from "./cgroup-name.ts";

export const CLASSES: readonly QosClass[] = ["Guaranteed", "Burstable", "BestEffort"];

interface ClassLimitsDeps {
  log: Log;
  /** Reads a cgroup with the details of its limits. */
  readUsage(path: string): Promise<CgroupUsage | undefined>;
  classLimits(requests: ClassRequests): ClassLimits;
  protectedRoot?: CgroupName | undefined;
}

/** Keeps the limits of the QoS classes' cgroups. `wanted` tells what they are to be for the pods of now. */
export function createClassLimits(deps: ClassLimitsDeps, wanted: () => ClassLimits) {
  const { log } = deps;
  /**
   * Changes of a class happen one at a time, so that the last one stays. A caller that waited usually finds its change
   * already made.
   */
  const turns = createLimiter(1);
  /** What the classes have, as far as their pods change it; the hierarchy is made as for no pods. */
  let written = deps.classLimits(NO_CLASS_REQUESTS);

  /**
   * Memory in use that is more than a class may have from now on stays: the class just gets no more (upstream:
   * `retrySetMemoryReserve`).
   */
  const write = async ({ tree, pathOf, nameOf }: Standing, qosClass: QosClass, limits: CgroupLimits) => {
    // The kernel protects a cgroup no further than those above it.
    if (deps.protectedRoot !== undefined && deps.protectedRoot.length > 0 && limits.memoryMin !== undefined)
      await tree.limit(pathOf(deps.protectedRoot), { memoryMin: limits.memoryMin });
    const path = pathOf(nameOf(qosClass));
    const { memoryBytes } = limits;
    const used = memoryBytes === undefined ? undefined : (await deps.readUsage(path))?.memory?.usage;
    const isBeyond = memoryBytes !== undefined && used !== undefined && BigInt(used) > memoryBytes;
    await tree.limit(path, isBeyond ? { ...limits, memoryBytes: BigInt(used) } : limits);
  };

  const updateOne = async (standing: Standing, qosClass: QosClass, limits: CgroupLimits) => {
    if (isSameOfPods(limits, written[qosClass])) return;
    const { hugepages: _hugepages, ...ofPods } = limits;
    try {
      await write(standing, qosClass, ofPods);
      written = { ...written, [qosClass]: limits };
    } catch (error) {
      written = { ...written, [qosClass]: {} };
      log.warn("Failed to update QoS cgroup configuration", { error: messageOf(error) });
    }
  };

  return {
    /** Writes what the pods changed, before a pod starts and after it ended. `refresh` makes up for a failure. */
    async update(standing: Standing): Promise<void> {
      await turns.run(async () => {
        const limits = wanted();
        for (const qosClass of CLASSES) await updateOne(standing, qosClass, limits[qosClass]);
      });
    },
    /** Writes all limits, whatever the cgroups had. */
    async refresh(standing: Standing): Promise<void> {
      try {
        for (const qosClass of CLASSES)
          await turns.run(async () => await write(standing, qosClass, wanted()[qosClass]));
      } catch (error) {
        log.warn("Failed to update QoS cgroup configuration", { error: messageOf(error) });
      }
    },
  };
}

/** Tells whether limits are the same but for huge pages, which pods do not change. */
function isSameOfPods(a: CgroupLimits, b: CgroupLimits): boolean {
  const names = ["cpuShares", "memoryBytes", "memoryMin", "memoryLow"] as const;
  return names.every((name) => a[name] === b[name]);
}
