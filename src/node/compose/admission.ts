import { computeDeclaredFeatures } from "../../api/declared-features.ts";
import type { Node, Pod } from "../../api/gen/types.ts";
import { podUid } from "../../api/pods.ts";
import type { Part } from "../../base/run-parts.ts";
import { readMachineNode, withMachineResources } from "../cluster/node-status/machine-node.ts";
import { createDepartures, type Departures } from "../pods/admission/departures.ts";
import { createFit } from "../pods/admission/fit.ts";
import { createFreshNode, type FreshNode } from "../pods/admission/fresh-node.ts";
import { createNodeAdmission } from "../pods/admission/node-admission.ts";
import { listOwnPorts } from "../pods/admission/own-ports.ts";
import { createPodAdmission, type PodVerdict } from "../pods/admission/pod-admission.ts";
import type { AdmitHandler } from "../pods/admission/pod-rejection.ts";
import { rejectOversized } from "../pods/admission/pod-size.ts";
import { createPressureHandler } from "../pods/admission/pressure.ts";
import { createRejectionCounter } from "../pods/admission/rejection-metrics.ts";
import { createPreemption } from "../pods/preemption/preemption.ts";
import { createInfeasibleResizes } from "../pods/resize/infeasible-resizes.ts";
import { createPodResizes } from "../pods/resize/pod-resizes.ts";
import { createResizeMetrics } from "../pods/resize/resize-metrics.ts";
import { createResizeRetry } from "../pods/resize/retry-resizes.ts";
import { listLivePods, listNewestPods } from "../pods/workers/live-pods.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { joinProviders } from "../resources/allocation/join-providers.ts";
import { createPodAllocation, type PodAllocation } from "../resources/allocation/pod-allocation.ts";
import type { NodeCpus } from "../resources/cpus/node-cpus.ts";
import { withAssignedDevices } from "../resources/devices/devices-of-node.ts";
import type { NodeMemory } from "../resources/memory/node-memory.ts";
import type { TopologyPolicy } from "../resources/topology/topology-policy.ts";
import { findRefusedVolume } from "../storage/volumes/network/refused-volumes.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import type { ReadingParts } from "./readings.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { SourceParts } from "./sources.ts";

/** Which pods the node lets in. */
export interface AdmissionParts {
  readonly admit: (pod: Pod) => PodVerdict;
  /** Grants the resizes that pods ask for, as far as there is room. */
  readonly reviewResizes: () => void;
  /** The pod is wanted no longer. */
  readonly forget: (uid: string) => void;
  /** Takes back what is given to pods that have ended. */
  readonly releaseStale: () => void;
  readonly parts: readonly Part[];
}

interface AdmissionNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly sources: SourceParts;
  readonly topology: TopologyPolicy;
  readonly cpus: NodeCpus | undefined;
  readonly memory: NodeMemory | undefined;
  readonly devices: DeviceParts;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly workers: PodWorkers;
}

/** Pods are measured against the API server's node object; before that is known, and without one, against the machine. */
export async function composeAdmission(
  foundation: Foundation,
  neighbours: AdmissionNeighbours,
): Promise<AdmissionParts> {
  const { ports, config, timeline, inbox, shutdown, pressure } = foundation;
  const { cluster, devices, readings, runtime, workers } = neighbours;
  const { host, log, metrics } = ports;
  const { clock, machine } = host;
  const machineNode = await readMachineNode({ machine, log }, config);
  const sized = (node: Node) => withMachineResources(node, machineNode);
  const freshNode = cluster && composeFreshNode(foundation, cluster, sized);
  const preemption = createPreemption({ clock, log, timeline, metrics, workers, onDecidable: inbox.offerDecidable });
  const node = () => sized(cluster?.ownNode.node() ?? machineNode);
  const newestPods = () => listNewestPods(workers.states(), neighbours.sources.desired.byUid);
  const isNamed = (uid: string) => neighbours.sources.desired.byUid(uid) !== undefined;
  const departures = createDepartures({ isNamed, onDecidable: inbox.offerDecidable });
  const allocation = composeAllocation(foundation, neighbours, departures);
  const findMisfit = createFit({
    node: () => withAssignedDevices(node(), devices.assignments),
    admittedPods: () => newestPods().map(runtime.resources.allocate),
    supportsSupplementalGroupsPolicy: runtime.handlers.supportsSupplementalGroupsPolicy,
    freshNode,
    room: preemption,
    departures,
  });
  const admit = createPodAdmission({
    firstRules: [
      rejectOversized,
      createPressureHandler({ pressure: pressure.pressure, isRunning: readings.running.isListed }),
    ],
    allocation,
    findMisfit,
    rules: [composeNodeRules(foundation, { cluster, readings }), shutdown.admit],
    preemption,
    onRejected: createRejectionCounter(metrics),
  });
  const { allocated: records, conditions } = runtime.resources;
  const resizes = createPodResizes({
    records,
    conditions,
    admit,
    findInfeasible: createInfeasibleResizes(neighbours, foundation.facts, foundation.config.featureGates),
    node,
    metrics: createResizeMetrics(metrics),
    isNamed,
    sync: (pod) => workers.update({ type: "update", subject: { kind: "pod", pod } }),
  });
  return {
    admit: resizes.admit,
    reviewResizes: () => resizes.review(newestPods()),
    forget(uid) {
      departures.ended();
      preemption.release(uid);
      allocation.forget(uid);
      resizes.forget(uid);
    },
    releaseStale: allocation.releaseStale,
    parts: [
      { name: "allocation", run: allocation.run },
      createResizeRetry({ clock, pendingUids: conditions.pendingUids, onDecidable: inbox.offerDecidable }),
      { name: "preemption", run: preemption.run },
      ...(freshNode === undefined ? [] : [{ name: "node for admission", run: freshNode.run }]),
    ],
  };
}

function composeAllocation(
  { inbox }: Foundation,
  { sources, topology, cpus, memory, devices, readings, workers }: AdmissionNeighbours,
  departures: Departures,
): PodAllocation {
  return createPodAllocation({
    ...joinProviders({ devices, cpus, memory, topology }),
    isRunning: readings.running.isListed,
    activePods: () => (sources.desired.allReady() ? listLivePods(workers.states()).map(podUid) : undefined),
    leavingPods: () => departures.among(listLivePods(workers.states())),
    awaitDeparture: departures.queue,
    onDecidable: inbox.offerDecidable,
  });
}

function composeFreshNode(
  { ports, inbox }: Foundation,
  { ownNodeClient }: ClusterParts,
  sized: (node: Node) => Node,
): FreshNode {
  return createFreshNode({
    clock: ports.host.clock,
    log: ports.log,
    readNode: async (signal) => sized(await ownNodeClient.readNow(signal)),
    onRead: inbox.offerDecidable,
  });
}

function composeNodeRules(
  { config, facts }: Foundation,
  { cluster, readings: { health } }: Pick<AdmissionNeighbours, "cluster" | "readings">,
): AdmitHandler {
  const { allowedUnsafeSysctls = [] } = config.kubelet;
  const { featureGates: gates } = config;
  const declaredFeatures = () => computeDeclaredFeatures({ gates, runtime: health.runtime().features });
  return createNodeAdmission(
    { findRefusedVolume },
    {
      allowedUnsafeSysctls,
      ownPorts: listOwnPorts(config.kubelet, cluster?.kube.server),
      isAppArmorEnabled: facts.appArmorEnabled,
      declaredFeatures: gates.NodeDeclaredFeatures ? declaredFeatures : undefined,
    },
  );
}
