import { computeDeclaredFeatures } from "../../api/declared-features.ts";
import type { Node, Pod } from "../../api/gen/types.ts";
import { NODES } from "../../api/kube-resource.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { readMachineNode, withMachineResources } from "../cluster/node-status/machine-node.ts";
import { createFit } from "../pods/admission/fit.ts";
import { createFreshNode } from "../pods/admission/fresh-node.ts";
import { createNodeAdmission } from "../pods/admission/node-admission.ts";
import { createPodAdmission, type PodVerdict } from "../pods/admission/pod-admission.ts";
import { createPressureHandler } from "../pods/admission/pressure.ts";
import { createRejectionCounter } from "../pods/admission/rejection-metrics.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createPreemption } from "../pods/preemption/preemption.ts";
import type { PodState } from "../pods/workers/pod-state.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { findRefusedVolume } from "../storage/volumes/network/refused-volumes.ts";
import type { PressureNotice } from "../upkeep/eviction/pressure-notice.ts";
import type { ShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import type { ClusterParts } from "./cluster.ts";
import type { NodeAgentPorts } from "./node-agent-ports.ts";
import type { RuntimeParts } from "./runtime.ts";

/** Which pods the node lets in. */
export interface AdmissionParts {
  readonly admit: (pod: Pod) => PodVerdict;
  /** The pod is wanted no longer. */
  readonly forget: (uid: string) => void;
  readonly parts: readonly Part[];
}

interface AdmissionDeps {
  readonly ports: NodeAgentPorts;
  readonly timeline: Timeline;
  readonly facts: Pick<NodeFacts, "appArmorEnabled">;
  readonly inbox: Pick<LoopInbox, "offerDecidable">;
  readonly cluster: Pick<ClusterParts, "kube" | "ownNode"> | undefined;
  readonly runtime: Pick<RuntimeParts, "health" | "pleg">;
  readonly workers: Pick<PodWorkers, "update" | "state" | "states" | "untilStopped">;
  readonly shutdown: Pick<ShutdownNotice, "admit">;
  readonly pressure: Pick<PressureNotice, "pressure">;
}

const READ_TIMEOUT_MS = 10 * SECOND;

/** The node is the API server's, and before that is known, and on a node without one, what the machine is. */
export async function composeAdmission(deps: AdmissionDeps, config: NodeAgentConfig): Promise<AdmissionParts> {
  const { ports, timeline, inbox, cluster, workers, shutdown } = deps;
  const { health, pleg } = deps.runtime;
  const { log, metrics } = ports;
  const { clock } = ports.host;
  const machineNode = await readMachineNode({ machine: ports.host.machine, log }, config);
  const sized = (node: Node) => withMachineResources(node, machineNode);
  const freshNode =
    cluster &&
    createFreshNode({
      clock,
      log,
      async readNode(signal) {
        const name = { namespace: "", name: config.nodeName };
        return sized(await cluster.kube.client.get(NODES, name, { signal, timeoutMs: READ_TIMEOUT_MS }));
      },
      onRead: inbox.offerDecidable,
    });
  const preemptionDeps = { clock, log, timeline, metrics, workers, onDecidable: inbox.offerDecidable };
  const preemption = createPreemption(preemptionDeps);
  const findMisfit = createFit({
    node: () => sized(cluster?.ownNode.node() ?? machineNode),
    admittedPods: () => [...workers.states().values()].flatMap(takesOfNode),
    supportsSupplementalGroupsPolicy: () => health.runtime().features?.supplementalGroupsPolicy === true,
    freshNode,
    room: preemption,
  });
  const { allowedUnsafeSysctls = [] } = config.kubelet;
  const { featureGates: gates } = config;
  const declaredFeatures = () => computeDeclaredFeatures({ gates, runtime: health.runtime().features });
  const admit = createNodeAdmission(
    { findRefusedVolume },
    {
      allowedUnsafeSysctls,
      isAppArmorEnabled: deps.facts.appArmorEnabled,
      declaredFeatures: gates.NodeDeclaredFeatures ? declaredFeatures : undefined,
    },
  );
  const parts: Part[] = [{ name: "preemption", run: preemption.run }];
  if (freshNode !== undefined) parts.push({ name: "node for admission", run: freshNode.run });
  const isRunning = (uid: string) =>
    pleg
      .pods()
      .get(uid)
      ?.containers.some(({ state }) => state === "running") === true;
  const { pressure } = deps.pressure;
  return {
    admit: createPodAdmission({
      firstRules: [createPressureHandler({ pressure, isRunning })],
      findMisfit,
      rules: [admit, shutdown.admit],
      preemption,
      onRejected: createRejectionCounter(metrics),
    }),
    forget: preemption.release,
    parts,
  };
}

/** The pod, while anything of it may run. */
function takesOfNode({ phase, subject }: PodState): Pod[] {
  const isOver = phase === "terminated" || phase === "finished";
  return subject.kind === "pod" && !isOver ? [subject.pod] : [];
}
