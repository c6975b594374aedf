import type { Part } from "../../base/run-parts.ts";
import type { Decision } from "../../base/timeline.ts";
import { createCapacitySettings } from "../resources/capacity/capacity-settings.ts";
import { readNodeCapacity } from "../resources/capacity/read-node-capacity.ts";
import { computeAllPodsLimits } from "../resources/cgroups/all-pods-limits.ts";
import { createNodeCgroups } from "../resources/cgroups/node-cgroups.ts";
import type { PodCgroups } from "../resources/cgroups/pod-cgroups.ts";
import { listReservedCgroups } from "../resources/cgroups/reserved-cgroups.ts";
import { createSizing, type NodeCpus } from "../resources/cpus/node-cpus.ts";
import type { Foundation } from "./foundation.ts";

/** The cgroups of pods, of QoS classes and of all pods together. */
export interface CgroupParts {
  /** Undefined: pods have none of their own, and the runtime places containers. */
  readonly pods: PodCgroups | undefined;
  /** The path of the cgroup of all pods; undefined while it does not stand. */
  pathOfAllPods(): string | undefined;
  parts(reports: { recordNodeEvent(decision: Decision): void }): readonly Part[];
}

const NONE: CgroupParts = { pods: undefined, pathOfAllPods: () => undefined, parts: () => [] };

/** Throws where the configured root is not there. */
export function composeCgroups(
  { ports, config, facts }: Pick<Foundation, "ports" | "config" | "facts">,
  cpus: Pick<NodeCpus, "sizingOf"> | undefined,
): CgroupParts {
  const { kubelet } = config;
  if (kubelet.cgroupsPerQOS === false) return NONE;
  const { host, cri, log, metrics } = ports;
  const { clock, machine, proc, systemd } = host;
  const cgroups = createNodeCgroups(
    {
      clock,
      log,
      metrics,
      files: host.cgroups,
      systemd,
      runtime: cri.runtime,
      facts,
      factsOf: createSizing(facts, cpus),
      async readLimits() {
        const { capacity } = await readNodeCapacity({ machine, log }, config);
        const { max: maxTasks } = await proc.tasks();
        const { reservations } = createCapacitySettings(config);
        const isEnforced = kubelet.enforceNodeAllocatable?.includes("pods") === true;
        const { hasMemoryController } = facts;
        return computeAllPodsLimits({ capacity, maxTasks, reservations, hasMemoryController, isEnforced });
      },
    },
    {
      root: kubelet.cgroupRoot,
      ownsRoot: config.ownsCgroupRoot,
      driver: kubelet.cgroupDriver === "systemd" ? "systemd" : "cgroupfs",
      maxTasksOfPod: kubelet.podPidsLimit > 0 ? BigInt(kubelet.podPidsLimit) : undefined,
      reserved: listReservedCgroups(kubelet, { protectsMemory: facts.memoryQos !== undefined }),
    },
  );
  return {
    pods: cgroups.pods,
    pathOfAllPods: cgroups.pathOfAllPods,
    parts: (reports) => [{ name: "cgroups", run: async (signal) => await cgroups.run(reports, signal) }],
  };
}
