import type { Node, NodeStatus, Taint } from "../../../api/gen/types.ts";
import {
  BETA_NODE_LABELS,
  CONTROLLER_ATTACH_DETACH_ANNOTATION,
  NODE_LABELS,
  NODE_TAINTS,
} from "../../../api/node-names.ts";
import { computeProvidedNodeIp } from "./node-addresses.ts";

/** What the configuration says about the node object that is made where none exists. */
export interface InitialNodeOptions {
  readonly nodeName: string;
  /** The labels of `--node-labels`. They win over those that the node sets itself. */
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** The node is cordoned from the beginning when this is false. */
  readonly isSchedulable: boolean;
  /** The provider's ID is empty where there is none. */
  readonly providerId: string;
  /** True when a cloud controller finishes the node before pods may come. */
  readonly isCloudExternal: boolean;
  readonly nodeIps: readonly string[];
  /** True when the attach-detach controller attaches volumes, and not the node. */
  readonly controllerAttachDetach: boolean;
}

/** The addresses of `--node-ip`, for a cloud controller to choose by. */
export const PROVIDED_NODE_IP_ANNOTATION = "alpha.kubernetes.io/provided-node-ip";

const CLOUD_TAINT: Taint = {
  key: "node.cloudprovider.kubernetes.io/uninitialized",
  value: "true",
  effect: "NoSchedule",
};
const UNSCHEDULABLE_TAINT: Taint = { key: NODE_TAINTS.unschedulable, effect: "NoSchedule" };

/**
 * Computes the node as it registers itself (upstream: pkg/kubelet/kubelet_node_status.go, initialNode). The node must
 * not set the taint `not-ready`, which admission adds, nor the pod ranges, which the cluster assigns.
 */
export function computeInitialNode(
  facts: { readonly architecture: string; readonly status: NodeStatus },
  options: InitialNodeOptions,
): Node {
  const annotations = computeAnnotations(options);
  const taints = computeTaints(options);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: options.nodeName,
      labels: {
        [NODE_LABELS.hostname]: options.nodeName,
        [NODE_LABELS.os]: "linux",
        [NODE_LABELS.architecture]: facts.architecture,
        // The node life-cycle controller would add these two labels, but a moment later, and only where there is such a
        // controller.
        [BETA_NODE_LABELS.os]: "linux",
        [BETA_NODE_LABELS.architecture]: facts.architecture,
        ...options.labels,
      },
      ...(Object.keys(annotations).length > 0 && { annotations }),
    },
    spec: {
      ...(options.providerId !== "" && { providerID: options.providerId }),
      ...(!options.isSchedulable && { unschedulable: true }),
      ...(taints.length > 0 && { taints }),
    },
    status: facts.status,
  };
}

function computeAnnotations(options: InitialNodeOptions): Record<string, string> {
  const nodeIp = computeProvidedNodeIp(options.nodeIps, options.isCloudExternal);
  return {
    ...(options.controllerAttachDetach && { [CONTROLLER_ATTACH_DETACH_ANNOTATION]: "true" }),
    ...(nodeIp !== undefined && { [PROVIDED_NODE_IP_ANNOTATION]: nodeIp }),
  };
}

/**
 * A cordoned node is tainted when it is made, because the scheduler must not be faster than the controller (upstream
 * #63897).
 */
function computeTaints({ taints, isSchedulable, isCloudExternal }: InitialNodeOptions): Taint[] {
  const { key, effect } = UNSCHEDULABLE_TAINT;
  const isTainted = taints.some((taint) => taint.key === key && taint.effect === effect);
  return [
    ...taints,
    ...(isSchedulable || isTainted ? [] : [UNSCHEDULABLE_TAINT]),
    ...(isCloudExternal ? [CLOUD_TAINT] : []),
  ];
}
