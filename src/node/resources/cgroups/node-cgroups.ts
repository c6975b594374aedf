import { podUid } from "../../../api/pods.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { Metrics } from "../../../base/metrics.ts";
import { runWithTasks } from "../../../base/tasks.ts";
import type { Decision } from "../../../base/timeline.ts";
import type { RuntimeService } from "../../../cri/port.ts";
import type { CgroupLimits, CgroupTree } from "../../../host/cgroup-tree-port.ts";
import type { Cgroups } from "../../../host/cgroups-port.ts";
import type { Systemd } from "../../../host/systemd-port.ts";
import { computeClassCgroups, computePodAmounts, computePodCgroup } from "../sizes/cgroup-size.ts";
import { type ClassRequests, NO_CLASS_REQUESTS } from "../sizes/class-requests.ts";
import type { SizingFacts } from "../sizes/sizing-facts.ts";
import { createCgroupDriver } from "./cgroup-driver.ts";
import { type CgroupHierarchy, checkCgroupRoot, createCgroupHierarchy } from "./cgroup-hierarchy.ts";
import { type CgroupDriver, partsOf } from "./cgroup-name.ts";
import { createTreeMeasure } from "./measured-tree.ts";
import { createMemoryQosMetrics } from "./memory-qos-metrics.ts";
import { createNodeAllocatable, type ReservedCgroup } from "./node-allocatable.ts";
import { createPodCgroups, type PodCgroups } from "./pod-cgroups.ts";
import { createSliceTree } from "./slice-tree.ts";

/** The cgroups of pods, of QoS classes and of all pods together. */
interface NodeCgroups {
  readonly pods: PodCgroups;
  /** The path of the cgroup of all pods; undefined while it does not stand. */
  pathOfAllPods(): string | undefined;
  /**
   * Makes the cgroups above those of the pods and keeps them in order. Rejects where this process may not make cgroups.
   */
  run(reports: { recordNodeEvent(decision: Decision): void }, signal: AbortSignal): Promise<void>;
}

interface NodeCgroupsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly files: Pick<Cgroups, keyof CgroupTree | "read">;
  readonly systemd: Systemd;
  readonly runtime: Pick<RuntimeService, "runtimeConfig" | "status">;
  readonly facts: SizingFacts;
  /** The facts by which a pod is sized. */
  factsOf(podUid: string): SizingFacts;
  /** Reads the limits of the cgroup of all pods. */
  readLimits(): Promise<CgroupLimits>;
}

interface NodeCgroupsOptions {
  /** The cgroup beneath which pods get theirs; empty for the root of all. */
  readonly root: string;
  /** Nobody else has cgroups there. */
  readonly ownsRoot: boolean;
  /** The driver that is used where the runtime is too old to name its own. */
  readonly driver: CgroupDriver;
  /** The highest number of processes of a pod; undefined means as many as the node has. */
  readonly maxTasksOfPod: bigint | undefined;
  readonly reserved: readonly ReservedCgroup[];
}

/** Creates the cgroups' keeper. Throws where the configured root does not exist. */
export function createNodeCgroups(deps: NodeCgroupsDeps, options: NodeCgroupsOptions): NodeCgroups {
  const { clock, log, metrics, facts, readLimits } = deps;
  const classLimits = (requests: ClassRequests) => computeClassCgroups(requests, facts);
  const hierarchy = createHierarchy(deps, options, classLimits(NO_CLASS_REQUESTS));
  const observeRequests = facts.memoryQos && createMemoryQosMetrics(metrics, facts.memoryQos);
  const pods = createPodCgroups({
    clock,
    log,
    hierarchy,
    limitsOf: (pod) => computePodCgroup(pod, deps.factsOf(podUid(pod)), { maxTasks: options.maxTasksOfPod }),
    readUsage: async (path) => await deps.files.read(path, { details: true }),
    amountsOf: computePodAmounts,
    classLimits,
    protectedRoot: options.ownsRoot ? partsOf(options.root) : undefined,
    onRequests: observeRequests ?? (() => undefined),
  });
  return {
    pods,
    pathOfAllPods() {
      const standing = hierarchy.current();
      return standing?.pathOf(standing.allPods);
    },
    async run({ recordNodeEvent }, signal) {
      const allocatable = createNodeAllocatable({ clock, hierarchy, readLimits, recordNodeEvent }, options);
      await runWithTasks(signal, async (tasks, running) => {
        await hierarchy.raise(running);
        tasks.spawn("node allocatable", async () => await allocatable.run(running));
        tasks.spawn("QoS classes", async () => await pods.run(running));
        await tasks.settled();
      });
    },
  };
}

function createHierarchy(
  deps: NodeCgroupsDeps,
  { root: configuredRoot, driver: configuredDriver }: NodeCgroupsOptions,
  classLimits: ReturnType<typeof computeClassCgroups>,
): CgroupHierarchy {
  const { clock, log, metrics, files, systemd, runtime, facts, readLimits } = deps;
  const root = configuredRoot === "" ? "/" : configuredRoot;
  const measure = createTreeMeasure({ clock, metrics });
  const tree = measure(files);
  checkCgroupRoot(tree, root);
  const readSliceTree = async () => {
    const sliceFacts = { cgroupVersion: facts.cgroupVersion, systemdVersion: await systemd.readVersion() };
    return measure(createSliceTree({ clock, files, systemd }, sliceFacts));
  };
  return createCgroupHierarchy(
    {
      clock,
      log,
      treeOf: async (driver) => (driver === "systemd" ? await readSliceTree() : tree),
      driver: createCgroupDriver({ runtime, log, metrics }, configuredDriver),
      readLimits,
      classLimits,
    },
    { root },
  );
}
