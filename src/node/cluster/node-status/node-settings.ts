import type { NodeAgentConfig } from "../../../config/node-agent-config.ts";
import { createCapacitySettings } from "../../resources/capacity/capacity-settings.ts";
import type { InitialNodeOptions } from "./initial-node.ts";
import type { NodeStatusSettings } from "./node-status.ts";

/** Returns the configuration as the node's status needs it. */
export function createNodeStatusSettings({
  kubelet,
  nodeName,
  nodeIps,
  fallbackNodeIp: fallbackIp,
  cluster,
  featureGates,
  ignoresEvictionThresholds,
}: NodeAgentConfig): NodeStatusSettings {
  return {
    nodeName,
    nodeIps,
    fallbackIp,
    isCloudExternal: cluster?.cloudProvider === "external",
    ...createCapacitySettings({ kubelet, ignoresEvictionThresholds }),
    kubeletPort: kubelet.enableServer === true ? kubelet.port : 0,
    declaringGates: featureGates.NodeDeclaredFeatures ? featureGates : undefined,
  };
}

/** Returns the configuration as the node's registration needs it. */
export function createInitialNodeOptions({ kubelet, nodeName, nodeIps, cluster }: NodeAgentConfig): InitialNodeOptions {
  return {
    nodeName,
    labels: cluster?.nodeLabels ?? {},
    taints: (kubelet.registerWithTaints ?? []).map(({ key, value, effect, timeAdded }) => {
      return { key, ...(value !== "" && { value }), effect, ...(timeAdded !== undefined && { timeAdded }) };
    }),
    isSchedulable: cluster?.registerSchedulable ?? true,
    providerId: kubelet.providerID,
    isCloudExternal: cluster?.cloudProvider === "external",
    nodeIps,
    controllerAttachDetach: kubelet.enableControllerAttachDetach ?? true,
  };
}
