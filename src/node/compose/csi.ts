import type { Node } from "../../api/gen/types.ts";
import type { Part } from "../../base/run-parts.ts";
import { readNodeLabels } from "../cluster/node-status/cluster-settings.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { createReportedVolumes, type ReportedVolumes } from "../cluster/node-status/reported-volumes.ts";
import { createStatusChanges, type StatusChanges } from "../cluster/node-status/status-changes.ts";
import { createAllocatableRefresh } from "../storage/csi/allocatable-refresh.ts";
import { type CsiDriverObjects, createCsiDriverObjects } from "../storage/csi/csi-driver-objects.ts";
import { type CsiDriverRegistry, createCsiDriverRegistry } from "../storage/csi/csi-driver-registry.ts";
import { withCsiFacts } from "../storage/csi/csi-node-facts.ts";
import { createCsiNodeObject } from "../storage/csi/csi-node-object.ts";
import type { Foundation } from "./foundation.ts";
import type { KubePorts } from "./node-agent-ports.ts";

/** The storage drivers on this node, and what the API server is told of them. */
export interface CsiParts {
  readonly drivers: CsiDriverRegistry;
  readonly driverObjects: CsiDriverObjects;
  readonly reportedVolumes: ReportedVolumes;
  /** The node object has another thing to tell of drivers or volumes. */
  readonly changes: Pick<StatusChanges, "subscribe">;
  /** The node object with what its drivers say of it. */
  decorate(node: Node): Node;
  /** Why the drivers keep the node from being ready; empty where they do not. */
  errors(): readonly string[];
  readonly parts: readonly Part[];
}

interface CsiNeighbours {
  readonly kube: KubePorts;
  readonly ownNode: NodeRegistration;
}

/** Builds the registry of drivers, and the node's CSINode. */
export function composeCsi({ ports, config }: Foundation, { kube, ownNode }: CsiNeighbours): CsiParts {
  const { host, log, plugins } = ports;
  const { clock, random } = host;
  const changes = createStatusChanges();
  const drivers = createCsiDriverRegistry({
    clock,
    connect: plugins.connectCsi,
    nodeLabels: () => readNodeLabels(ownNode.node()),
  });
  drivers.subscribe(changes.tell);
  const reportedVolumes = createReportedVolumes();
  reportedVolumes.onWanted(changes.tell);
  const driverObjects = createCsiDriverObjects({ client: kube.client, clock, random, log });
  const node = createCsiNodeObject(
    { client: kube.heartbeat, clock, random, log, drivers, node: ownNode, onError: changes.tell },
    { nodeName: config.nodeName },
  );
  const refresh = createAllocatableRefresh({ clock, log, drivers, objects: driverObjects });
  return {
    drivers,
    driverObjects,
    reportedVolumes,
    changes,
    decorate: (object) => withCsiFacts(object, drivers.facts()),
    errors: () => [node.error()].filter((error) => error !== undefined),
    parts: [
      { name: "CSIDriver objects", run: driverObjects.run },
      { name: "CSINode", run: node.run },
      { name: "volume limits", run: refresh.run },
    ],
  };
}
