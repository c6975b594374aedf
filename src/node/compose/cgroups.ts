import { compareQuantities, subtractQuantities } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/resources.ts";
import type { Part } from "../../base/run-parts.ts";
import { runWithTasks } from "../../base/tasks.ts";
import type { Decision } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { CgroupLimits } from "../../host/cgroup-tree-port.ts";
import { readMachineFacts } from "../cluster/node-status/machine-facts.ts";
import { computeReserved, type NodeReservations } from "../cluster/node-status/node-reservations.ts";
import { computeNodeCapacity } from "../cluster/node-status/node-resources.ts";
import { createNodeStatusSettings } from "../cluster/node-status/node-settings.ts";
import { createCgroupDriver } from "../resources/cgroups/cgroup-driver.ts";
import { type CgroupHierarchy, checkCgroupRoot, createCgroupHierarchy } from "../resources/cgroups/cgroup-hierarchy.ts";
import { createTreeMeasure } from "../resources/cgroups/measured-tree.ts";
import { createNodeAllocatable, type ReservedCgroup } from "../resources/cgroups/node-allocatable.ts";
import { createPodCgroups, type PodCgroups } from "../resources/cgroups/pod-cgroups.ts";
import { createSliceTree } from "../resources/cgroups/slice-tree.ts";
import {
  computeClassCgroups,
  computeMilliCpuRequest,
  computePodCgroup,
  computeSharedCgroup,
} from "../resources/limits/pod-cgroup.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";

/** The cgroups of pods, of QoS classes and of all pods together. */
export interface CgroupParts {
  /** Undefined: pods have none of their own, and the runtime places containers. */
  readonly pods: PodCgroups | undefined;
  /** The path of the cgroup of all pods; undefined while it does not stand. */
  pathOfAllPods(): string | undefined;
  parts(deps: { recordNodeEvent(decision: Decision): void }): readonly Part[];
}

const NONE: CgroupParts = { pods: undefined, pathOfAllPods: () => undefined, parts: () => [] };

/** Throws where the configured root is not there. */
export function composeCgroups(
  { ports, facts }: { ports: NodeAgentPorts; facts: NodeFacts },
  config: NodeAgentConfig,
): CgroupParts {
  const { kubelet } = config;
  if (kubelet.cgroupsPerQOS === false) return NONE;
  const { host, log, metrics } = ports;
  const { clock } = host;
  const root = kubelet.cgroupRoot === "" ? "/" : kubelet.cgroupRoot;
  const measure = createTreeMeasure({ clock, metrics });
  const tree = measure(host.cgroups);
  checkCgroupRoot(tree, root);
  const sliceTreeOf = async () => {
    const systemdVersion = await host.systemd.readVersion();
    const sliceFacts = { cgroupVersion: facts.cgroupVersion, systemdVersion };
    return measure(createSliceTree({ clock, files: host.cgroups, systemd: host.systemd }, sliceFacts));
  };
  const readLimits = async () => await readNodeLimits(ports, config);
  const configured = kubelet.cgroupDriver === "systemd" ? "systemd" : "cgroupfs";
  const classLimits = (milliCpu: bigint) => computeClassCgroups(milliCpu, facts);
  const hierarchy = createCgroupHierarchy(
    {
      clock,
      log,
      treeOf: async (driver) => (driver === "systemd" ? await sliceTreeOf() : tree),
      driver: createCgroupDriver({ runtime: ports.cri.runtime, log }, configured),
      readLimits,
      classLimits: classLimits(0n),
    },
    { root },
  );
  const maxTasks = kubelet.podPidsLimit > 0 ? BigInt(kubelet.podPidsLimit) : undefined;
  const pods = createPodCgroups({
    clock,
    log,
    hierarchy,
    limitsOf: (pod) => computePodCgroup(pod, facts, { maxTasks }),
    milliCpuOf: computeMilliCpuRequest,
    classLimits,
  });
  return {
    pods,
    pathOfAllPods: () => pathOfAllPods(hierarchy),
    parts({ recordNodeEvent }) {
      const deps = { clock, hierarchy, readLimits, recordNodeEvent };
      const allocatable = createNodeAllocatable(deps, { reserved: listReserved(config) });
      const run = async (signal: AbortSignal) =>
        await runWithTasks(signal, async (tasks, running) => {
          await hierarchy.raise(running);
          tasks.spawn("node allocatable", async () => await allocatable.run(running));
          tasks.spawn("QoS classes", async () => await pods.run(running));
          await tasks.settled();
        });
      return [{ name: "cgroups", run }];
    },
  };
}

function pathOfAllPods(hierarchy: Pick<CgroupHierarchy, "current">): string | undefined {
  const standing = hierarchy.current();
  return standing?.pathOf(standing.allPods);
}

/** What all pods may have: all of the machine, or what is not set aside, which is not the thresholds of evictions. */
async function readNodeLimits({ host, log }: NodeAgentPorts, config: NodeAgentConfig): Promise<CgroupLimits> {
  const settings = createNodeStatusSettings(config);
  const machine = await readMachineFacts({ machine: host.machine, log }, config.rootDirectory);
  const { cpu = "0", memory = "0" } = computeNodeCapacity(machine, settings);
  const { max } = await host.proc.tasks();
  const capacity: ResourceList = { cpu, memory, ...(max !== undefined && { pid: String(max) }) };
  const isEnforced = (config.kubelet.enforceNodeAllocatable ?? []).includes("pods");
  const resources = isEnforced ? computeRest(capacity, settings.reservations) : capacity;
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

/** In upstream's order; that their cgroups are named was validated. */
function listReserved({ kubelet }: NodeAgentConfig): readonly ReservedCgroup[] {
  const enforced = kubelet.enforceNodeAllocatable ?? [];
  const groups = [
    { of: "System", option: "system-reserved", path: kubelet.systemReservedCgroup, has: kubelet.systemReserved },
    { of: "Kube", option: "kube-reserved", path: kubelet.kubeReservedCgroup, has: kubelet.kubeReserved },
  ] as const;
  return [false, true].flatMap((compressibleOnly) =>
    groups
      .filter(({ option }) => enforced.includes(compressibleOnly ? `${option}-compressible` : option))
      .map(({ of, path, has }) => {
        return { of, path, compressibleOnly, limits: computeSharedCgroup(has ?? {}, { compressibleOnly }) };
      }),
  );
}
