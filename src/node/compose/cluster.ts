import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { createCertificateRotation } from "../cluster/certificates/certificate-rotation.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import type { DesiredPods } from "../pods/desired/desired-pods.ts";
import type { LoopInbox } from "../pods/loop/loop-inbox.ts";
import { createApiSource } from "../pods/sources/api-source.ts";
import type { PodSourceLoop, SnapshotListener } from "../pods/sources/source-snapshot.ts";
import type { PodStatuses } from "../pods/status/pod-statuses.ts";
import type { PressureNotice } from "../upkeep/eviction/pressure-notice.ts";
import type { ShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import { type CsiParts, composeCsi } from "./csi.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";
import { composeNodeObject, composeRegistration, ttlOf } from "./node-object.ts";
import { composeRefs, type RefParts } from "./refs.ts";
import { composeReporting, type Reporting } from "./reporting.ts";
import type { RuntimeParts } from "./runtime.ts";

/** The node agent's side towards the API server; a standalone node has none of it. */
export interface ClusterParts {
  kube: KubePorts;
  refs: RefParts;
  csi: CsiParts;
  /** The node's own object, as it was last seen, and whoever follows it. */
  ownNode: Pick<NodeRegistration, "node" | "follow">;
  createSource(emit: SnapshotListener): PodSourceLoop;
  report(deps: ReportDeps): ClusterReporting;
}

/** What is known only when the pods' own parts are there. */
interface ReportDeps {
  timeline: Timeline;
  desired: DesiredPods;
  statuses: PodStatuses;
  runtime: Pick<RuntimeParts, "health" | "errors" | "volumes">;
  shutdown: ShutdownNotice;
  pressure: Pick<PressureNotice, "pressure" | "subscribe">;
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
  const csi = composeCsi({ ports, kube, registration }, config);
  const refs = composeRefs({ ...deps, ttlMs: () => ttlOf(registration.node()) }, config);
  return {
    kube,
    refs,
    csi,
    ownNode: registration,
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
    report({ runtime, shutdown, pressure, ...pods }) {
      const { health, errors } = runtime;
      const reporting = composeReporting({ ports, kube, registration, ...pods }, config);
      const { recordNodeEvent } = reporting;
      const nodeDeps = {
        ports,
        kube,
        registration,
        health,
        errors,
        shutdown,
        pressure: pressure.pressure,
        recordNodeEvent,
        csi,
        csiVolumes: runtime.volumes.csi,
      };
      const node = composeNodeObject(nodeDeps, config);
      let judgement = "";
      const judged = () => {
        const next = errors().join("\n");
        if (next !== judgement) node.syncNow();
        judgement = next;
      };
      health.subscribe(judged);
      shutdown.subscribe(node.syncNow);
      pressure.subscribe(node.syncNow);
      const certificates = composeCertificates(deps, config);
      const parts = [...refs.parts, ...csi.parts, ...reporting.parts, ...node.parts, ...certificates];
      return { ...reporting, judged, parts };
    },
  };
}

/** The client certificate is renewed in its file, where the clients notice it. */
function composeCertificates(
  { ports, kube }: { ports: NodeAgentPorts; kube: KubePorts },
  { kubelet, cluster, nodeName, certDirectory }: NodeAgentConfig,
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
      certDirectory,
    },
  );
  return [{ name: "client certificate", run: rotation.run }];
}
