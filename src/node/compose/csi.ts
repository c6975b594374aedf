import type { Node } from "../../api/gen/types.ts";
import type { Part } from "../../base/run-parts.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { createReportedVolumes, type ReportedVolumes } from "../cluster/node-status/reported-volumes.ts";
import { createAllocatableRefresh } from "../storage/csi/allocatable-refresh.ts";
import { type CsiDriverObjects, createCsiDriverObjects } from "../storage/csi/csi-driver-objects.ts";
import { type CsiDriverRegistry, createCsiDriverRegistry } from "../storage/csi/csi-driver-registry.ts";
import { withCsiFacts } from "../storage/csi/csi-node-facts.ts";
import { createCsiNodeObject } from "../storage/csi/csi-node-object.ts";
import { declarePluginGauge } from "../storage/plugins/plugin-gauge.ts";
import { createPluginWatcher } from "../storage/plugins/plugin-watcher.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";

/** The storage drivers on this node, and what the API is told of them. */
export interface CsiParts {
  drivers: CsiDriverRegistry;
  driverObjects: CsiDriverObjects;
  reportedVolumes: ReportedVolumes;
  /** The node object with what its drivers say of it. */
  decorate(node: Node): Node;
  /** Why the node is not ready yet. */
  error(): string | undefined;
  /** The listener is called when the node object is to tell another thing of drivers or volumes. */
  subscribe(listener: () => void): void;
  parts: readonly Part[];
}

interface CsiPartsDeps {
  ports: NodeAgentPorts;
  kube: KubePorts;
  registration: NodeRegistration;
}

/** Builds the watch for plugins, the registry of drivers, and the node's CSINode. */
export function composeCsi({ ports, kube, registration }: CsiPartsDeps, config: NodeAgentConfig): CsiParts {
  const { host, log, plugins } = ports;
  const { clock, random, files } = host;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const drivers = createCsiDriverRegistry({
    clock,
    connect: plugins.connectCsi,
    nodeLabels: () => registration.node()?.metadata?.labels,
  });
  drivers.subscribe(tell);
  const reportedVolumes = createReportedVolumes();
  reportedVolumes.onWanted(tell);
  const driverObjects = createCsiDriverObjects({ client: kube.client, clock, random, log });
  const node = createCsiNodeObject(
    {
      client: kube.heartbeat,
      clock,
      random,
      log,
      drivers,
      node: {
        nodeReady: registration.nodeReady,
        node: registration.node,
        subscribe: (listener) => registration.subscribe(listener),
      },
      onError: tell,
    },
    { nodeName: config.nodeName },
  );
  const refresh = createAllocatableRefresh({ clock, log, drivers, objects: driverObjects });
  const watcher = createPluginWatcher(
    { clock, files, log, connect: plugins.connectRegistration },
    { directory: `${config.rootDirectory}/plugins_registry`, handlers: [drivers.handler] },
  );
  declarePluginGauge(ports.metrics, watcher);
  return {
    drivers,
    driverObjects,
    reportedVolumes,
    decorate: (object) => withCsiFacts(object, drivers.facts()),
    error: node.error,
    subscribe: (listener) => void listeners.add(listener),
    parts: [
      { name: "plugins", run: watcher.run },
      { name: "CSIDriver objects", run: driverObjects.run },
      { name: "CSINode", run: node.run },
      { name: "volume limits", run: refresh.run },
    ],
  };
}
