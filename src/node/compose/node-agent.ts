import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import type { PodCache } from "../pods/pleg/pod-cache.ts";
import type { PodProbes } from "../pods/probes/pod-probes.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { ContainerChanges } from "../runtime/logs/container-changes.ts";
import { makeRootDirectories } from "../runtime/pod-runtime/root-directories.ts";
import type { NodeView } from "../server/handlers.ts";
import { composeAdmission } from "./admission.ts";
import { type ClusterParts, composeCluster } from "./cluster.ts";
import { composeCpus, composeCpuUpkeep } from "./cpus.ts";
import { composeDeviceClaims, deviceClaimParts } from "./device-claims.ts";
import { composeDevices } from "./devices.ts";
import { composeEviction } from "./eviction.ts";
import { composeFoundation } from "./foundation.ts";
import { composeHistory } from "./history.ts";
import { composeImageCollection } from "./image-collection.ts";
import { composeIptables } from "./iptables.ts";
import { composeLoop } from "./loop.ts";
import { composeMemory } from "./memory.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import { composePlugins } from "./plugins.ts";
import { composePodData } from "./pod-data.ts";
import { composePodResources } from "./pod-resources.ts";
import { composePodsApi } from "./pods-api.ts";
import { composeProbes } from "./probes.ts";
import { composeReadings } from "./readings.ts";
import { composeReporting } from "./reporting.ts";
import { composeRuntime, type RuntimeParts } from "./runtime.ts";
import { composeShutdown } from "./shutdown.ts";
import { composeSources } from "./sources.ts";
import { composeStats } from "./stats.ts";
import { composeSwapWarning } from "./swap-warning.ts";
import { composeTopology } from "./topology.ts";
import { composeView } from "./view.ts";
import { composeWorkers } from "./workers.ts";

export interface NodeAgent {
  /**
   * Runs until the signal fires, then stops all that it started and resolves; the pods' containers run on. Rejects when
   * a part of it crashes, after the others have stopped.
   */
  run(signal: AbortSignal): Promise<void>;
  view: NodeView;
  /** What its sources want on this node. */
  desired: Pick<DesiredPods, "byFullName" | "resolveUid">;
  /** What the runtime does with containers, as it is seen. */
  containerChanges: Pick<ContainerChanges, "subscribe">;
  /** The node's own object; undefined without an API server. */
  ownNode: Pick<ClusterParts["ownNode"], "follow" | "node"> | undefined;
  /** What it keeps in memory of its pods, to be looked at: the simulator checks every change, and that nothing stays. */
  memory: NodeAgentMemory;
}

/** Read-only views of what is kept of pods. */
interface NodeAgentMemory {
  workers: Pick<PodWorkers, "states">;
  statuses: Pick<PodStatuses, "list" | "subscribe">;
  cache: Pick<PodCache, "size">;
  probes: Pick<PodProbes, "podUids">;
  cgroups: { podUids(): readonly string[] } | undefined;
  /** What is held for the API server's sake. */
  references: { podUids(): readonly string[] } | undefined;
  deliveries: { podUids(): readonly string[] };
  /** Calls of the machine that have been given up on, and that nobody can end. */
  storageCalls: RuntimeParts["volumes"]["guard"];
}

/** Builds the node agent bottom-up; reading it is reading the architecture. */
export async function createNodeAgent(ports: NodeAgentPorts, config: NodeAgentConfig): Promise<NodeAgent> {
  const foundation = await composeFoundation(ports, config);
  const topology = await composeTopology(foundation);
  const cpus = await composeCpus(foundation, topology);
  const memory = await composeMemory(foundation);
  const devices = await composeDevices(foundation);
  const given = { topology, cpus, memory, devices };
  const cluster = composeCluster(foundation, devices);
  const data = composePodData(foundation, cluster);
  const sources = composeSources(foundation, { cluster, data });
  const deviceClaims = await composeDeviceClaims(foundation, { cluster, sources });
  const history = composeHistory(foundation, sources);
  const probes = composeProbes(foundation);
  const readings = composeReadings(foundation);
  const runtime = await composeRuntime(foundation, { cluster, data, ...given, deviceClaims, readings, probes });
  const reporting = composeReporting(foundation, { cluster, sources, devices, readings, runtime });
  const workers = composeWorkers(foundation, { sources, devices, deviceClaims, readings, runtime, probes, reporting });

  const stats = composeStats(foundation, { readings, runtime, probes });
  const images = composeImageCollection(foundation, { runtime, reporting });
  const eviction = composeEviction(foundation, { readings, runtime, workers, stats, images, reporting });
  const shutdown = composeShutdown(foundation, { workers, reporting, sources, readings });

  const admission = await composeAdmission(foundation, { cluster, sources, ...given, readings, runtime, workers });
  const loopNeighbours = { cluster, sources, readings, runtime, probes, reporting, workers, admission };
  const loop = composeLoop(foundation, loopNeighbours);

  const working = [
    ...sources.parts,
    ...devices.parts,
    ...deviceClaimParts(deviceClaims, { sources, workers }),
    composePlugins(foundation, { cluster, devices, deviceClaims }),
    composePodResources(foundation, { ...given, deviceClaims, workers }),
    ...composePodsApi(foundation, sources),
    ...readings.parts,
    ...runtime.parts,
    ...runtime.cgroups.parts(reporting),
    { name: "probes", run: probes.probes.run },
    ...admission.parts,
    ...composeCpuUpkeep(foundation, { cpus, readings, workers, admission }),
    ...images.parts,
    ...eviction,
    ...shutdown,
    composeSwapWarning(foundation, reporting),
    ...composeIptables(foundation),
    stats.part,
    { name: "sync loop", run: loop.run },
  ];
  return {
    async run(signal) {
      await makeRootDirectories({ files: ports.host.files, log: ports.log }, config.rootDirectory);
      const between = [workers.stop, reporting.flush];
      await foundation.runner.run({ working, between, reporting: [...reporting.parts, ...history.parts] }, signal);
    },
    view: composeView(foundation, { sources, readings, runtime, workers, stats, loop, history }),
    desired: sources.desired,
    containerChanges: readings.containerChanges,
    ownNode: cluster?.ownNode,
    memory: {
      workers,
      statuses: foundation.statuses,
      cache: readings.cache,
      probes: probes.probes,
      cgroups: runtime.cgroups.pods,
      references: cluster?.refs,
      deliveries: reporting,
      storageCalls: runtime.volumes.guard,
    },
  };
}
