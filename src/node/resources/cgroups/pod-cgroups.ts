import type { Pod } from "../../../api/gen/types.ts";
import { podUid } from "../../../api/pods.ts";
import { computeQosClass, type QosClass } from "../../../api/qos.ts";
import { assert } from "../../../base/assert.ts";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import { repeat } from "../../../base/interval.ts";
import { createKeyedLock } from "../../../base/keyed-lock.ts";
import type { Log } from "../../../base/log.ts";
import type { CgroupLimits } from "../../../host/cgroup-tree-port.ts";
import type { CgroupUsage } from "../../../host/cgroups-port.ts";
import type { ClassRequests, PodAmounts } from "../sizes/class-requests.ts";
import type { CgroupHierarchy, ClassLimits, Standing } from "./cgroup-hierarchy.ts";
import { type CgroupName, describeName, nameOfPod, podUidOf } from "./cgroup-name.ts";
import { CLASSES, createClassLimits } from "./class-limits.ts";
import { createClassRequestSums } from "./class-request-sums.ts";

/** The cgroups of pods, each beneath the cgroup of its QoS class. */
export interface PodCgroups {
  /**
   * Returns the pod's cgroup as the runtime is told it, which puts the containers below it. Only for a pod that was
   * ensured.
   */
  parentOf(pod: Pod): string;
  /**
   * Makes the pod's cgroup where it does not exist. `isNew` means that nothing runs in it, so that its limits are set
   * in any case.
   */
  ensure(pod: Pod, options: { readonly isNew: boolean; readonly signal: AbortSignal }): Promise<void>;
  /**
   * Removes the pod's cgroup. The runtime has said that nothing of the pod runs any more, so any process that is still
   * in the cgroup is killed.
   */
  release(pod: ReleasedPod, signal: AbortSignal): Promise<void>;
  /**
   * Removes the cgroups of unknown pods in which nothing runs: another node agent may have its pods beneath the same
   * root.
   */
  collect(isKnown: (uid: string) => boolean): Promise<void>;
  /** What the pod's cgroup has now, undefined where it cannot be read, and what the pod asks for. */
  sizes(pod: Pod): Promise<{ readonly now: CgroupUsage | undefined; readonly wanted: CgroupLimits }>;
  /** Changes limits of the pod's cgroup, which exists. Rejects with the kernel's error. */
  limit(pod: Pod, limits: CgroupLimits): Promise<void>;
  /** Keeps the classes' limits up to date, from when the hierarchy stands. */
  run(signal: AbortSignal): Promise<void>;
  /** Returns the UIDs of the pods of which something is held. */
  podUids(): readonly string[];
}

/** A pod to release. The class of an orphan is unknown. */
interface ReleasedPod {
  readonly uid: string;
  readonly qosClass: QosClass | undefined;
}

interface PodCgroupsDeps {
  clock: Clock;
  log: Log;
  hierarchy: Pick<CgroupHierarchy, "standing" | "current">;
  limitsOf(pod: Pod): CgroupLimits;
  /** Reads a cgroup with the details of its limits. */
  readUsage(path: string): Promise<CgroupUsage | undefined>;
  amountsOf(pod: Pod): PodAmounts;
  /** Computes the limits of the classes from what their pods ask for together. */
  classLimits(requests: ClassRequests): ClassLimits;
  /** The cgroup that holds the one of all pods and nothing else. Default: there is none, or it is another's. */
  protectedRoot?: CgroupName | undefined;
  /** Hears what the pods of the classes ask for, at each change. */
  onRequests(requests: ClassRequests): void;
}

/** The period is upstream's `periodicQOSCgroupUpdateInterval`. */
const REFRESH_PERIOD_MS = MINUTE;

export function createPodCgroups(deps: PodCgroupsDeps): PodCgroups {
  const { log, hierarchy } = deps;
  const requests = createClassRequestSums(deps.onRequests);
  /** The locks are by UID: a pod whose cgroup is collected may come back meanwhile, as a static pod does. */
  const locks = createKeyedLock();
  const classes = createClassLimits(deps, () => deps.classLimits(requests.sums()));

  const make = async (pod: Pod, name: CgroupName, standing: Standing): Promise<void> => {
    const path = standing.pathOf(name);
    const { tree } = standing;
    const limits = deps.limitsOf(pod);
    try {
      await tree.make(path, limits);
    } catch (error) {
      throw new Error(`failed to create container for ${describeName(name)} : ${messageOf(error)}`, { cause: error });
    }
    try {
      await tree.limit(path, limits);
    } catch (error) {
      // As upstream, a pod also starts where its limits do not fit those of the cgroups above it.
      log.warn("A pod's cgroup cannot be limited as the pod asks for", { cgroup: path, error: messageOf(error) });
    }
  };

  const nameOf = (pod: Pod, standing: Standing) => nameOfPod(standing.nameOf(computeQosClass(pod)), podUid(pod));

  return {
    parentOf(pod) {
      const standing = hierarchy.current();
      assert(standing !== undefined, "a pod's cgroup is named before there is one");
      return standing.pathOf(nameOf(pod, standing));
    },
    async ensure(pod, { isNew, signal }) {
      const standing = await hierarchy.standing(signal);
      const uid = podUid(pod);
      const name = nameOf(pod, standing);
      const qosClass = computeQosClass(pod);
      if (qosClass !== "BestEffort" && requests.shareOf(uid)?.pod !== pod) {
        requests.set(uid, { pod, qosClass, amounts: deps.amountsOf(pod) });
        await classes.update(standing);
      }
      await locks.run(uid, async () => {
        if (isNew || standing.tree.findLack(standing.pathOf(name)) !== undefined) await make(pod, name, standing);
      });
    },
    async sizes(pod) {
      const standing = hierarchy.current();
      const now = standing && (await deps.readUsage(standing.pathOf(nameOf(pod, standing))));
      return { now, wanted: deps.limitsOf(pod) };
    },
    async limit(pod, limits) {
      const standing = hierarchy.current();
      assert(standing !== undefined, "a pod's cgroup is limited before there is one");
      await locks.run(podUid(pod), async () => {
        await standing.tree.limit(standing.pathOf(nameOf(pod, standing)), limits);
      });
    },
    async release({ uid, qosClass }, signal) {
      const standing = await hierarchy.standing(signal);
      await locks.run(uid, async () => {
        for (const each of qosClass === undefined ? CLASSES : [qosClass]) {
          const name = nameOfPod(standing.nameOf(each), uid);
          await standing.tree.remove(standing.pathOf(name), { killing: true }).catch((error: unknown) => {
            const message = `failed to delete cgroup paths for ${describeName(name)} : ${messageOf(error)}`;
            throw new Error(message, { cause: error });
          });
        }
      });
      if (requests.shareOf(uid) === undefined) return;
      requests.set(uid, undefined);
      await classes.update(standing);
    },
    async collect(isKnown) {
      const standing = hierarchy.current();
      if (standing === undefined) return;
      for (const qosClass of CLASSES) {
        const parent = standing.pathOf(standing.nameOf(qosClass));
        for (const directory of standing.tree.children(parent)) {
          const uid = podUidOf(directory, standing.driver);
          if (uid === undefined || isKnown(uid)) continue;
          await locks.run(
            uid,
            async () => await collectOne({ log, tree: standing.tree }, `${parent}/${directory}`, () => isKnown(uid)),
          );
        }
      }
    },
    async run(signal) {
      const standing = await hierarchy.standing(signal);
      await repeat(deps.clock, { periodMs: REFRESH_PERIOD_MS, signal }, async () => await classes.refresh(standing));
    },
    podUids: () => requests.uids(),
  };
}

async function collectOne(
  { tree, log }: Pick<Standing, "tree"> & { log: Log },
  path: string,
  isKnown: () => boolean,
): Promise<void> {
  if (isKnown() || tree.processes(path).length > 0) return;
  try {
    await tree.remove(path, { killing: false });
    log.info("Removed the cgroup of a pod that is gone", { cgroup: path });
  } catch (error) {
    // Another process has just begun to use the cgroup.
    if (codeOf(error) === "EBUSY") return;
    log.warn("Failed to destroy orphaned pod cgroup", { cgroup: path, error: messageOf(error) });
  }
}
