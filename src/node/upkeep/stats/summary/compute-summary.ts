import { formatTime } from "../../../../base/clock.ts";
import type { TaskCounts } from "../../../../host/proc-port.ts";
import type { PodStorage, StorageSnapshot } from "../readings/storage-snapshot.ts";
import type { ContainerUsage, MeasuredCgroup, PodUsage, UsageSnapshot } from "../readings/usage-snapshot.ts";
import {
  describeEphemeralStorage,
  describeFileSystem,
  describeImageFs,
  describeLogs,
  describeRootfs,
  describeVolume,
} from "./describe-storage.ts";
import { describeCpu, describeIo, describeMemoryUsage, describeNetwork, describeSwap } from "./describe-usage.ts";
import { sumOfPod, sumOfPods } from "./pod-sums.ts";
import type { ContainerSummary, NodeSummary, PodSummary, RlimitStats, Summary } from "./summary.ts";

/** The facts that do not change while the node agent runs. */
export interface NodeConstants {
  readonly nodeName: string;
  readonly rootDirectory: string;
  readonly memoryCapacityBytes: number;
  readonly swapCapacityBytes: number;
  /** The time when the machine booted, in milliseconds since the epoch. Undefined where the kernel does not tell. */
  readonly bootedAt: number | undefined;
  /** The time when this node agent started, in milliseconds since the epoch. */
  readonly startedAt: number;
}

interface SummaryInput {
  readonly node: NodeConstants;
  readonly usage: UsageSnapshot;
  /** Undefined means that the summary covers only processors and memory (`only_cpu_and_memory`). */
  readonly rest:
    | { readonly storage: StorageSnapshot; readonly tasks: TaskCounts & { readonly at: number } }
    | undefined;
}

/** Puts readings into the form of the summary API, as pkg/kubelet/server/stats/summary.go does. */
export function computeSummary({ node, usage, rest }: SummaryInput): Summary {
  return {
    node: describeNode(node, usage, rest),
    pods: usage.pods.map((pod) => describePod(pod, rest?.storage)),
  };
}

function describeNode(node: NodeConstants, usage: UsageSnapshot, rest: SummaryInput["rest"]): NodeSummary {
  const { at, interfaces, pressure, usage: root } = usage.node;
  const { nodeFs, imageFs, containerFs } = rest?.storage ?? {};
  return {
    nodeName: node.nodeName,
    systemContainers: describeSystemContainers(node, usage),
    startTime: node.bootedAt === undefined ? null : formatTime(node.bootedAt),
    ...definedOnly({
      cpu: describeCpu(usage.node, pressure),
      memory: describeMemoryUsage(at, root.memory, { limit: node.memoryCapacityBytes, pressure }),
      swap: describeSwap(at, root.memory, node.swapCapacityBytes),
    }),
    ...(rest &&
      definedOnly({
        io: describeIo(at, pressure),
        network: interfaces && describeNetwork(at, interfaces),
        fs: nodeFs && describeFileSystem(nodeFs),
        runtime: definedOnly({
          imageFs: imageFs && describeImageFs(imageFs),
          containerFs: containerFs && describeImageFs(containerFs),
        }),
        rlimit: describeTasks(rest.tasks),
      })),
  };
}

function describeSystemContainers(
  node: NodeConstants,
  { kubelet, misc, runtime, allPods, pods, node: root }: UsageSnapshot,
) {
  const all: Array<ContainerSummary | undefined> = [
    kubelet && describeDaemon("kubelet", kubelet, node.startedAt),
    misc && describeDaemon("misc", misc, node.bootedAt),
    runtime && describeDaemon("runtime", runtime, node.bootedAt),
    describeDaemon("pods", allPods ?? sumOfPods(pods, root.at), node.startedAt),
  ];
  return all.filter((container) => container !== undefined);
}

function describeDaemon(name: string, measured: MeasuredCgroup, startedAt: number | undefined): ContainerSummary {
  const { at, usage } = measured;
  return {
    name,
    startTime: startedAt === undefined ? null : formatTime(startedAt),
    ...definedOnly({
      cpu: describeCpu(measured),
      memory: describeMemoryUsage(at, usage.memory, { pressure: usage.pressure }),
      swap: describeSwap(at, usage.memory),
    }),
  };
}

function describePod(pod: PodUsage, storage: StorageSnapshot | undefined): PodSummary {
  const { uid, name, namespace } = pod.pod;
  const sum = sumOfPod(pod);
  const own = storage?.pods.get(uid);
  const containers = pod.containers.map((container) => describeContainer(container, own, storage));
  const volumes = own?.volumes ?? [];
  return {
    podRef: { name, namespace, uid },
    startTime: formatTime(pod.createdAt),
    containers,
    ...definedOnly({
      cpu: describeCpu(sum),
      memory: describeMemoryUsage(sum.at, sum.usage.memory, { pressure: sum.usage.pressure }),
      swap: describeSwap(sum.at, sum.usage.memory),
    }),
    ...(own &&
      storage &&
      definedOnly({
        io: describeIo(sum.at, sum.usage.pressure),
        network: pod.network && describeNetwork(pod.network.at, pod.network.interfaces),
        volume: volumes.length === 0 ? undefined : volumes.map(describeVolume),
        "ephemeral-storage": describeEphemeralStorage(containers, own, storage),
        process_stats: { process_count: pod.told?.processCount ?? countProcesses(pod) },
      })),
  };
}

function countProcesses({ containers }: PodUsage): number {
  return containers.reduce((count, { usage }) => count + usage.pids.length, 0);
}

function describeContainer(
  container: ContainerUsage,
  own: PodStorage | undefined,
  storage: StorageSnapshot | undefined,
): ContainerSummary {
  const { at, usage, id, name } = container;
  return {
    name,
    startTime: formatTime(container.createdAt),
    ...definedOnly({
      cpu: describeCpu(container),
      memory: describeMemoryUsage(at, usage.memory, { pressure: usage.pressure }),
      swap: describeSwap(at, usage.memory),
    }),
    ...(own &&
      storage &&
      definedOnly({
        io: describeIo(at, usage.pressure),
        rootfs: describeRootfs(id, own, storage),
        logs: describeLogs(name, own, storage),
      })),
  };
}

function describeTasks({ at, current, max }: TaskCounts & { readonly at: number }): RlimitStats {
  return { time: formatTime(at), ...definedOnly({ maxpid: max, curproc: current }) };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function definedOnly<T extends object>(fields: T): Defined<T>;
function definedOnly(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
