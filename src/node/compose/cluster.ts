import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { createOwnNodeClient, type OwnNodeClient } from "../cluster/node-status/own-node-client.ts";
import { type CsiParts, composeCsi } from "./csi.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import type { KubePorts } from "./node-agent-ports.ts";
import { composeRefs, type RefParts } from "./refs.ts";
import { composeRegistration } from "./registration.ts";

/** What pods need of the API server before they can start; a standalone node has none of it. */
export interface ClusterParts {
  readonly kube: KubePorts;
  /** The node's own object: made here, found here, and followed by those who need it. */
  readonly ownNode: NodeRegistration;
  readonly ownNodeClient: OwnNodeClient;
  readonly refs: RefParts;
  readonly csi: CsiParts;
}

/** Undefined on a standalone node. What is told to the API server comes later; see `composeReporting`. */
export function composeCluster(
  foundation: Foundation,
  devices: Pick<DeviceParts, "wasRestored">,
): ClusterParts | undefined {
  const { ports, config } = foundation;
  const { kube } = ports;
  if (kube === undefined) return undefined;
  const ownNode = composeRegistration(foundation, kube, devices);
  return {
    kube,
    ownNode,
    ownNodeClient: createOwnNodeClient(kube.client, config.nodeName),
    refs: composeRefs(foundation, { kube, ownNode }),
    csi: composeCsi(foundation, { kube, ownNode }),
  };
}
