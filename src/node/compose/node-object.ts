import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import { readPodCidrs } from "../cluster/node-status/cluster-settings.ts";
import { createImageInventory, type ImageInventory } from "../cluster/node-status/image-inventory.ts";
import { createNodeHeartbeat } from "../cluster/node-status/node-heartbeat.ts";
import { createNodeLease } from "../cluster/node-status/node-lease.ts";
import { createNodeStatusSettings } from "../cluster/node-status/node-settings.ts";
import { createNodeStatusReader, type NodeStatusReader } from "../cluster/node-status/node-status-reader.ts";
import { createNodeRegistrar } from "../cluster/node-status/register-node.ts";
import { readToldVolumes } from "../cluster/node-status/told-volumes.ts";
import { withDeviceCapacity } from "../resources/devices/devices-of-node.ts";
import type { ClusterParts } from "./cluster.ts";
import type { DeviceParts } from "./devices.ts";
import type { Foundation } from "./foundation.ts";
import type { PodNetworkParts } from "./pod-network.ts";
import type { PodReporting } from "./pod-reporting.ts";
import type { ReadingParts } from "./readings.ts";
import type { RuntimeParts } from "./runtime.ts";

const LIST_IMAGES_TIMEOUT_MS = 10 * SECOND;

/** The node's own object and its lease. */
interface NodeObject {
  /** Something that the status tells has changed. */
  syncNow(): void;
  readonly parts: readonly Part[];
}

interface NodeObjectNeighbours {
  readonly cluster: ClusterParts;
  readonly devices: DeviceParts;
  readonly readings: ReadingParts;
  readonly runtime: RuntimeParts;
  readonly events: Pick<PodReporting, "recordNodeEvent">;
  readonly network: Pick<PodNetworkParts, "observe">;
}

/** Registers the node, then keeps its status and lease. */
export function composeNodeObject(foundation: Foundation, neighbours: NodeObjectNeighbours): NodeObject {
  const { ports, config } = foundation;
  const { cluster, devices, runtime, events, network } = neighbours;
  const { kube, ownNode, csi } = cluster;
  const { host, log } = ports;
  const { clock, random, machine } = host;
  const { kubelet, nodeName } = config;
  const images = composeImageInventory(foundation);
  const reader = composeStatusReader(foundation, neighbours, images);
  const register = createNodeRegistrar({ clock, machine, log, registration: ownNode, readStatus: reader.read }, config);
  ownNode.follow((node) => network.observe(readPodCidrs(node)));
  const heartbeat = createNodeHeartbeat(
    {
      clock,
      random,
      log,
      client: kube.heartbeat,
      readStatus: reader.read,
      recordNodeEvent: events.recordNodeEvent,
      observeNode(node) {
        ownNode.observe(node);
        csi.reportedVolumes.observe(node);
      },
      decorate: (node) => withDeviceCapacity(csi.decorate(node), devices.inventory.capacity()),
      registerAgain: (kubelet.registerNode ?? true) ? register : undefined,
    },
    {
      nodeName,
      updateFrequencyMs: kubelet.nodeStatusUpdateFrequency,
      reportFrequencyMs: kubelet.nodeStatusReportFrequency,
      leaseDurationSeconds: kubelet.nodeLeaseDurationSeconds,
    },
  );
  csi.changes.subscribe(heartbeat.syncNow);
  devices.changes.subscribe(heartbeat.syncNow);
  runtime.volumes.told.subscribe(heartbeat.syncNow);
  const lease = createNodeLease(
    { clock, random, log, client: kube.heartbeat, node: ownNode },
    { nodeName, leaseDurationSeconds: kubelet.nodeLeaseDurationSeconds },
  );
  return {
    syncNow: heartbeat.syncNow,
    parts: [
      { name: "image list", run: images.run },
      {
        name: "node status",
        async run(signal) {
          await register(signal);
          await heartbeat.run(signal);
        },
      },
      { name: "node lease", run: lease.run },
    ],
  };
}

function composeImageInventory({ ports, config }: Foundation): ImageInventory {
  const { host, cri: runtime, log } = ports;
  return createImageInventory(
    {
      clock: host.clock,
      log,
      async listImages(signal) {
        const call = { signal, timeoutMs: LIST_IMAGES_TIMEOUT_MS };
        return (await runtime.images.listImages(cri.ListImagesRequest.fromPartial({}), call)).images;
      },
    },
    { maxImages: config.kubelet.nodeStatusMaxImages ?? -1 },
  );
}

function composeStatusReader(
  { ports, config, shutdown, pressure }: Foundation,
  { cluster, readings, runtime }: NodeObjectNeighbours,
  images: Pick<ImageInventory, "images">,
): NodeStatusReader {
  const { csi } = cluster;
  return createNodeStatusReader(
    {
      machine: ports.host.machine,
      log: ports.log,
      runtime: readings.health.runtime,
      images: images.images,
      errors: () => [...readings.errors(), ...csi.errors(), ...shutdown.errors()],
      pressure: pressure.pressure,
      volumes: async () => await readToldVolumes({ volumes: runtime.volumes.told, reported: csi.reportedVolumes }),
    },
    { settings: createNodeStatusSettings(config), rootDirectory: config.rootDirectory },
  );
}
