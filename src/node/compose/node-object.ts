import type { Node } from "../../api/gen/types.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Decision } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import * as cri from "../../cri/gen/cri-v1.ts";
import { createImageInventory } from "../cluster/node-status/image-inventory.ts";
import { computeInitialNode } from "../cluster/node-status/initial-node.ts";
import type { NodePressure } from "../cluster/node-status/node-conditions.ts";
import { createNodeHeartbeat } from "../cluster/node-status/node-heartbeat.ts";
import { createNodeLease } from "../cluster/node-status/node-lease.ts";
import { createNodeRegistration, type NodeRegistration } from "../cluster/node-status/node-registration.ts";
import { createInitialNodeOptions, createNodeStatusSettings } from "../cluster/node-status/node-settings.ts";
import { createNodeStartup } from "../cluster/node-status/node-startup.ts";
import { computeNodeStatus } from "../cluster/node-status/node-status.ts";
import { createNodeStatusReader, type VolumesOfNode } from "../cluster/node-status/node-status-reader.ts";
import type { ReportedVolumes } from "../cluster/node-status/reported-volumes.ts";
import { readMachineInventory } from "../resources/capacity/machine-inventory.ts";
import { createPodNetwork } from "../runtime/pod-runtime/pod-network.ts";
import type { RuntimeHealth } from "../runtime/reading/runtime-health.ts";
import type { CsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import type { ShutdownNotice } from "../upkeep/shutdown/shutdown-notice.ts";
import type { CsiParts } from "./csi.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";

const HEARTBEAT_TIMEOUT_MS = 10 * SECOND;
const LIST_IMAGES_TIMEOUT_MS = 10 * SECOND;

/** The node's own object and its lease. */
interface NodeObject {
  /** Something that the status tells has changed. */
  syncNow(): void;
  parts: readonly Part[];
}

interface NodeObjectDeps {
  ports: NodeAgentPorts;
  kube: KubePorts;
  registration: NodeRegistration;
  health: RuntimeHealth;
  /** Why pods cannot be run now. */
  errors(): readonly string[];
  shutdown: Pick<ShutdownNotice, "errors">;
  /** What the node is short of. */
  pressure(): NodePressure;
  recordNodeEvent(decision: Decision): void;
  csi: CsiParts;
  csiVolumes: CsiPlugin | undefined;
}

/** Made first: others wait for what it learns. */
export function composeRegistration(
  { ports, kube }: Pick<NodeObjectDeps, "ports" | "kube">,
  { nodeName, kubelet }: NodeAgentConfig,
): NodeRegistration {
  const { host, log, metrics } = ports;
  const { clock, random, proc } = host;
  const startup = createNodeStartup({ clock, metrics, bootedAt: proc.bootedAt });
  return createNodeRegistration(
    { client: kube.heartbeat, clock, random, log, startup },
    { nodeName, registerNode: kubelet.registerNode ?? true, timeoutMs: HEARTBEAT_TIMEOUT_MS },
  );
}

/** How old a copy may be, as the cluster tells the node; undefined where it does not. */
export function ttlOf(node: Node | undefined): number | undefined {
  const text = node?.metadata?.annotations?.["node.alpha.kubernetes.io/ttl"];
  const seconds = Number(text);
  return text === undefined || !Number.isInteger(seconds) || seconds < 0 ? undefined : seconds * SECOND;
}

/** Registers the node, then keeps its status and lease. */
export function composeNodeObject(deps: NodeObjectDeps, config: NodeAgentConfig): NodeObject {
  const { ports, kube, registration, health, csi, csiVolumes } = deps;
  const { host, log } = ports;
  const { clock, random, machine } = host;
  const { kubelet, nodeName, rootDirectory } = config;
  const common = { clock, random, log };

  const images = createImageInventory(
    {
      clock,
      log,
      listImages: async (signal) => {
        const call = { signal, timeoutMs: LIST_IMAGES_TIMEOUT_MS };
        return (await ports.cri.images.listImages(cri.ListImagesRequest.fromPartial({}), call)).images;
      },
    },
    { maxImages: kubelet.nodeStatusMaxImages ?? -1 },
  );
  const errors = () => {
    const storage = [csi.error()].filter((error) => error !== undefined);
    return [...deps.errors(), ...storage, ...deps.shutdown.errors()];
  };
  const volumes = async () => await readVolumes(csiVolumes, csi.reportedVolumes);
  const reader = createNodeStatusReader(
    { machine, log, runtime: health.runtime, images: images.images, errors, pressure: deps.pressure, volumes },
    { settings: createNodeStatusSettings(config), rootDirectory },
  );
  const network = createPodNetwork({ runtime: ports.cri.runtime, clock, log });
  const observeNode = (node: Node) => {
    registration.observe(node);
    csi.reportedVolumes.observe(node);
    network.observe(podCidrsOf(node));
  };
  const register = async (signal: AbortSignal): Promise<Node> => {
    const { identity } = await readMachineInventory({ machine, log }, rootDirectory);
    const { status } = computeNodeStatus(await reader.read(), {}, clock.now());
    const facts = { architecture: identity.architecture, status };
    const node = await registration.register(computeInitialNode(facts, createInitialNodeOptions(config)), signal);
    network.observe(podCidrsOf(node));
    return node;
  };
  const heartbeat = createNodeHeartbeat(
    {
      ...common,
      client: kube.heartbeat,
      readStatus: reader.read,
      recordNodeEvent: deps.recordNodeEvent,
      observeNode,
      decorate: csi.decorate,
      registerAgain: (kubelet.registerNode ?? true) ? register : undefined,
    },
    {
      nodeName,
      updateFrequencyMs: kubelet.nodeStatusUpdateFrequency,
      reportFrequencyMs: kubelet.nodeStatusReportFrequency,
      leaseDurationSeconds: kubelet.nodeLeaseDurationSeconds,
    },
  );
  csi.subscribe(heartbeat.syncNow);
  csiVolumes?.subscribe(heartbeat.syncNow);
  const lease = createNodeLease(
    { ...common, client: kube.heartbeat, node: registration },
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
      { name: "pod network", run: network.run },
    ],
  };
}

/** Not told before it is known what an earlier agent left mounted: what is not named may be detached. */
async function readVolumes(
  csiVolumes: CsiPlugin | undefined,
  reported: Pick<ReportedVolumes, "telling">,
): Promise<VolumesOfNode | undefined> {
  if (csiVolumes === undefined) return undefined;
  try {
    await csiVolumes.load();
    const volumesInUse = csiVolumes.volumesInUse();
    // In one turn with the reading, so that no volume comes into use between the two.
    reported.telling(volumesInUse);
    return { volumesInUse, volumesAttached: csiVolumes.volumesAttached() };
  } catch {
    // The plugin says so itself, and tries again.
    return undefined;
  }
}

function podCidrsOf({ spec }: Node): readonly string[] {
  return spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
}
