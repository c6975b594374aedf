import { readContainerResource, readMetadataField } from "../../../api/downward-fields.ts";
import type { Container, ObjectFieldSelector, Pod, ResourceFieldSelector } from "../../../api/gen/types.ts";
import { messageOf } from "../../../base/errors.ts";
import type { NodeFacts } from "./node-facts.ts";

/** A value that the pod or the node gives, or the reason why there is none. */
export type DownwardValue = { ok: true; value: string } | { ok: false; error: string };

export interface DownwardContext {
  pod: Pod;
  /** The addresses of the pod's sandbox, primary first. */
  podIps: readonly string[];
  node: Pick<NodeFacts, "nodeName" | "hostIps" | "allocatable">;
}

/** Reads a field of the pod that its containers may have in their environment. */
export function readPodField({ fieldPath }: ObjectFieldSelector, context: DownwardContext): DownwardValue {
  const { pod, node } = context;
  const podIps = inFamilyOrder(context.podIps, node.hostIps);
  switch (fieldPath) {
    case "spec.nodeName":
      return found(pod.spec?.nodeName ?? node.nodeName);
    case "spec.serviceAccountName":
      return found(pod.spec?.serviceAccountName ?? "");
    case "status.podIP":
      return found(podIps[0] ?? "");
    case "status.podIPs":
      return found(podIps.join(","));
    case "status.hostIP":
      return hostIps(node.hostIps.slice(0, 1));
    case "status.hostIPs":
      return hostIps(node.hostIps);
    default:
      return attempt(() => readMetadataField(pod, fieldPath));
  }
}

/** Puts the addresses of the node's preferred family first, whatever order the network plugin gave. */
function inFamilyOrder(podIps: readonly string[], nodeIps: readonly string[]): string[] {
  const isPreferred = (ip: string) => ip.includes(":") === (nodeIps[0] ?? ip).includes(":");
  return [...podIps.filter(isPreferred), ...podIps.filter((ip) => !isPreferred(ip))];
}

function hostIps(ips: readonly string[]): DownwardValue {
  return ips.length > 0 ? found(ips.join(",")) : { ok: false, error: "the node has no address yet" };
}

/**
 * Returns a container's request or limit in units of the divisor, rounded up. The container is the given one where the
 * selector names none. A missing limit reads as what the node can give, a missing request as 0.
 */
export function readResourceField(
  selector: ResourceFieldSelector,
  container: Container,
  { pod, node }: DownwardContext,
): DownwardValue {
  const containerName = selector.containerName || container.name;
  return attempt(() => readContainerResource(pod, { ...selector, containerName }, node.allocatable));
}

function attempt(read: () => string): DownwardValue {
  try {
    return found(read());
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}

function found(value: string): DownwardValue {
  return { ok: true, value };
}
