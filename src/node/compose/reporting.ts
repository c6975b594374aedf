import { createErrorWatch } from "../cluster/node-status/error-watch.ts";
import { composeClientCertificate } from "./client-certificate.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import { composeNodeObject } from "./node-object.ts";
import { composePodNetwork } from "./pod-network.ts";
import { composePodReporting, type PodReporting } from "./pod-reporting.ts";
import type { ReadingParts } from "./readings.ts";
import type { RuntimeParts } from "./runtime.ts";
import type { SourceParts } from "./sources.ts";

/** What the API server is told of the pods and of the node. */
export interface Reporting extends PodReporting {
  /** The runtime was looked at: whether pods can be run may have changed. */
  judged(): void;
}

/** A standalone node tells nobody: its log and its own pages are all that there is. */
const STANDALONE: Reporting = {
  show() {},
  podsChanged() {},
  finished() {},
  forget() {},
  podUids: () => [],
  recordNodeEvent() {},
  judged() {},
  flush: async () => {},
  parts: [],
};

interface ReportingNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly sources: SourceParts;
  readonly devices: DeviceParts;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
}

/** Joins the reports of pods and of the node, which share the events and the end. */
export function composeReporting(
  foundation: Foundation,
  { cluster, sources, devices, readings, runtime }: ReportingNeighbours,
): Reporting {
  const network = composePodNetwork(foundation);
  if (cluster === undefined) return { ...STANDALONE, parts: [network.part] };
  const pods = composePodReporting(foundation, { cluster, desired: sources.desired });
  const node = composeNodeObject(foundation, { cluster, devices, readings, runtime, events: pods, network });
  const judged = createErrorWatch(readings.errors, node.syncNow);
  readings.health.subscribe(judged);
  foundation.shutdown.subscribe(node.syncNow);
  foundation.pressure.subscribe(node.syncNow);
  const certificates = composeClientCertificate(foundation, cluster.kube);
  const parts = [
    ...cluster.refs.parts,
    ...cluster.csi.parts,
    ...pods.parts,
    ...node.parts,
    network.part,
    ...certificates,
  ];
  return { ...pods, judged, parts };
}
