import type { Timeline } from "../base/timeline.ts";
import type { NodeAgentConfig } from "../config/node-agent-config.ts";
import { createCertificateRotation } from "./certificates/certificate-rotation.ts";
import { composeNodeObject, composeRegistration, ttlOf } from "./compose-node-object.ts";
import { composeRefs, type RefParts } from "./compose-refs.ts";
import { composeReporting, type Reporting } from "./compose-reporting.ts";
import type { DesiredPods } from "./desired/desired-pods.ts";
import type { LoopInbox } from "./loop/loop-inbox.ts";
import type { KubePorts, NodeAgentPorts, Part } from "./node-agent-ports.ts";
import type { RuntimeHealth } from "./runtime/runtime-health.ts";
import { createApiSource } from "./sources/api-source.ts";
import type { PodSourceLoop, SnapshotListener } from "./sources/source-snapshot.ts";
import type { PodStatuses } from "./status/pod-statuses.ts";

/** The node agent's side towards the API server; a standalone node has none of it. */
export interface ClusterParts {
  refs: RefParts;
  createSource(emit: SnapshotListener): PodSourceLoop;
  report(deps: ReportDeps): ClusterReporting;
}

/** What is known only when the pods' own parts are there. */
export interface ReportDeps {
  timeline: Timeline;
  desired: DesiredPods;
  statuses: PodStatuses;
  health: RuntimeHealth;
  /** Why pods cannot be run now. */
  errors(): readonly string[];
}

/** The reporting of pods and of the node. */
export interface ClusterReporting extends Reporting {
  /** The runtime was looked at: whether pods can be run may have changed. */
  judged(): void;
}

/** Builds it in two steps: what pods need to start, then what tells of them. */
export function composeCluster(
  deps: { ports: NodeAgentPorts; kube: KubePorts; inbox: LoopInbox },
  config: NodeAgentConfig,
): ClusterParts {
  const { ports, kube } = deps;
  const { clock, random } = ports.host;
  const registration = composeRegistration(deps, config);
  const refs = composeRefs({ ...deps, ttlMs: () => ttlOf(registration.node()) }, config);
  return {
    refs,
    createSource: (emit) =>
      createApiSource(
        {
          client: kube.client,
          clock,
          random,
          log: ports.log,
          emit,
          nodeReady: async (signal) => void (await registration.nodeReady(signal)),
        },
        config,
      ),
    report({ health, errors, ...pods }) {
      const reporting = composeReporting({ ports, kube, registration, ...pods }, config);
      const { recordNodeEvent } = reporting;
      const node = composeNodeObject({ ports, kube, registration, health, errors, recordNodeEvent }, config);
      let judgement = "";
      const judged = () => {
        const next = errors().join("\n");
        if (next !== judgement) node.syncNow();
        judgement = next;
      };
      health.subscribe(judged);
      const parts = [...refs.parts, ...reporting.parts, ...node.parts, ...composeCertificates(deps, config)];
      return { ...reporting, judged, parts };
    },
  };
}

/** The client certificate is renewed in its file, where the clients notice it. */
function composeCertificates(
  { ports, kube }: { ports: NodeAgentPorts; kube: KubePorts },
  { kubelet, cluster, nodeName }: NodeAgentConfig,
): Part[] {
  if (kubelet.rotateCertificates !== true || cluster === undefined) return [];
  const { host, log, metrics } = ports;
  const { clock, random, files } = host;
  const rotation = createCertificateRotation(
    { client: kube.client, clock, random, files, log, metrics },
    {
      signerName: "kubernetes.io/kube-apiserver-client-kubelet",
      usages: ["digital signature", "client auth"],
      subject: () => ({ commonName: `system:node:${nodeName}`, organizations: ["system:nodes"] }),
      pairName: "kubelet-client",
      certDirectory: cluster.certDirectory,
    },
  );
  return [{ name: "client certificate", run: rotation.run }];
}
