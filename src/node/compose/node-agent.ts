import { createPartRunner } from "../../base/run-parts.ts";
import { createTimeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createDesiredPods, type DesiredPods } from "../pods/desired/desired-pods.ts";
import { createLoopInbox, type LoopInbox } from "../pods/loop/loop-inbox.ts";
import type { PodCache } from "../pods/pleg/pod-cache.ts";
import type { PodProbes } from "../pods/probes/pod-probes.ts";
import { createPodStatuses, type PodStatuses } from "../pods/status/pod-statuses.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { readNodeFacts } from "../runtime/config/read-node-facts.ts";
import { type LoadedProviders, loadCredentialProviders } from "../runtime/credential-providers/load-providers.ts";
import type { ContainerChanges } from "../runtime/logs/container-changes.ts";
import { makeRootDirectories } from "../runtime/pod-runtime/root-directories.ts";
import type { NodeView } from "../server/handlers.ts";
import { createPressureNotice } from "../upkeep/eviction/pressure-notice.ts";
import { createShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import { createNodeMetrics } from "../view/node-metrics.ts";
import { createNodeView } from "../view/node-view.ts";
import { composeAdmission } from "./admission.ts";
import { type ClusterParts, composeCluster } from "./cluster.ts";
import { composeEviction } from "./eviction.ts";
import { composeImageCollection } from "./image-collection.ts";
import { composeLoop } from "./loop.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import { composePods } from "./pods.ts";
import { composeProbes } from "./probes.ts";
import { composeRuntime, type RuntimeParts } from "./runtime.ts";
import { composeShutdown } from "./shutdown.ts";
import { composeSources } from "./sources.ts";
import { composeStats } from "./stats.ts";

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
  /** Undefined without an API server. */
  ownNode: ClusterParts["ownNode"] | undefined;
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
  deliveries: { podUids(): readonly string[] } | undefined;
  /** Calls of the machine that nobody waits for any longer, and nobody can end. */
  storageCalls: RuntimeParts["volumes"]["guard"];
}

/** Builds the node agent bottom-up; reading it is reading the architecture. */
export async function createNodeAgent(ports: NodeAgentPorts, config: NodeAgentConfig): Promise<NodeAgent> {
  const { host, log } = ports;
  const { clock } = host;
  const runner = createPartRunner();
  const timeline = createTimeline(clock);
  const facts = await readNodeFacts(host, config);
  const providers = await readCredentialProviders(host.files, config);
  const inbox = createLoopInbox();

  const cluster = ports.kube && composeCluster({ ports, kube: ports.kube, inbox }, config);
  const statuses = createPodStatuses({ clock });
  const { probes, ...probeMetrics } = composeProbes({ ports, timeline, inbox, statuses });
  const runtime = composeRuntime({ ports, timeline, inbox, facts, probes, cluster, providers }, config);
  const { health, pleg, cache, errors } = runtime;
  const { guard: storageCalls } = runtime.volumes;
  const sourceDeps = { host, log, emit: inbox.offerSnapshot, apiSource: cluster?.createSource };
  const { sources, names } = composeSources(sourceDeps, config);
  const desired = createDesiredPods({ clock, log, timeline }, { sources: names });
  const shutdown = createShutdownNotice();
  const pressure = createPressureNotice();
  const reporting = cluster?.report({ timeline, desired, statuses, runtime, shutdown, pressure });
  const onFinished = reporting?.finished;
  const podDeps = { ports, timeline, inbox, facts, parts: runtime, statuses, probes, onFinished };
  const workers = composePods(podDeps, config);
  const imageCollection = composeImageCollection({ ports, images: runtime.images, reporting }, config);
  const stats = composeStats({ ports, runtime, probeMetrics }, config);
  const measured = { stats: stats.stats, images: imageCollection.collection, pressure };
  const eviction = composeEviction({ ports, timeline, workers, runtime, reporting, ...measured }, config);
  const shutdownParts = composeShutdown({ ports, notice: shutdown, workers, reporting }, config);
  const admissionDeps = { ports, timeline, facts, inbox, cluster, runtime, workers, shutdown, pressure };
  const admission = await composeAdmission(admissionDeps, config);
  const loopDeps = { ports, runner, timeline, inbox, desired, statuses, workers, runtime, probes, admission, cluster };
  const loop = composeLoop({ ...loopDeps, reporting }, config);
  const remembered = { workers, statuses, cache, probes, cgroups: runtime.cgroups.pods };
  return {
    view: createNodeView({
      nodeName: config.nodeName,
      clock,
      renderMetrics: composeMetrics({ ports, facts, statuses, desired, workers, runtime, inbox }, config),
      statistics: stats.pages,
      timeline,
      desired,
      statuses,
      workers,
      health,
      errors: () => [...errors(), ...shutdown.errors()],
      pressure: pressure.pressure,
      loop,
      pleg,
    }),
    desired,
    containerChanges: runtime.containerChanges,
    ownNode: cluster?.ownNode,
    memory: { ...remembered, references: cluster?.refs, deliveries: reporting, storageCalls },
    async run(signal) {
      await makeRootDirectories({ files: host.files, log }, config.rootDirectory);
      const working = [
        ...sources.map(({ run }) => ({ name: "pod source", run })),
        ...runtime.parts,
        ...runtime.cgroups.parts({ recordNodeEvent: (event) => reporting?.recordNodeEvent(event) }),
        { name: "probes", run: probes.run },
        ...admission.parts,
        ...imageCollection.parts,
        ...eviction,
        ...shutdownParts,
        stats.part,
        { name: "sync loop", run: loop.run },
      ];
      const between = [workers.stop, async () => await reporting?.flush()];
      await runner.run({ working, between, reporting: reporting?.parts ?? [] }, signal);
    },
  };
}

interface MetricsDeps {
  ports: NodeAgentPorts;
  facts: Pick<NodeFacts, "cgroupVersion">;
  statuses: PodStatuses;
  desired: DesiredPods;
  workers: PodWorkers;
  runtime: RuntimeParts;
  inbox: LoopInbox;
}

function composeMetrics(deps: MetricsDeps, { nodeName }: NodeAgentConfig): NodeView["metrics"] {
  const { ports, facts, statuses, desired, workers, runtime, inbox } = deps;
  return createNodeMetrics({
    nodeName,
    cgroupVersion: facts.cgroupVersion,
    clock: ports.host.clock,
    metrics: ports.metrics,
    statuses,
    desiredPods: desired.pods,
    mirrorPods: desired.mirrorPods,
    states: workers.states,
    runtimePods: runtime.pleg.pods,
    discardedEvents: () => inbox.discarded,
    setVolumeGauges: runtime.volumes.statistics.setGauges,
  });
}

/** The node does not start with plugins that cannot work. */
async function readCredentialProviders(
  files: NodeAgentPorts["host"]["files"],
  { credentialProviders, featureGates }: NodeAgentConfig,
): Promise<LoadedProviders | undefined> {
  if (credentialProviders === undefined) return undefined;
  const tokensAllowed = featureGates.KubeletServiceAccountTokenForCredentialProviders;
  return await loadCredentialProviders(files, { ...credentialProviders, tokensAllowed });
}
