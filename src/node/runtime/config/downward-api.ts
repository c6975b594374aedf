import type { Container, ObjectFieldSelector, Pod, ResourceFieldSelector } from "../../../api/gen/types.ts";
import { podContainers, podReference } from "../../../api/pods.ts";
import { compareQuantities, quantityMilliValue, quantityValue } from "../../../api/quantity.ts";
import type { NodeFacts } from "./node-facts.ts";

/** A value that the pod or the node gives, or why there is none. */
export type DownwardValue = { ok: true; value: string } | { ok: false; error: string };

export interface DownwardContext {
  pod: Pod;
  /** Of the pod's sandbox, primary first. */
  podIps: readonly string[];
  node: Pick<NodeFacts, "nodeName" | "hostIps" | "allocatable">;
}

/** The fields of a pod that its containers may read into their environment. */
export function readPodField({ fieldPath }: ObjectFieldSelector, context: DownwardContext): DownwardValue {
  const { pod, podIps, node } = context;
  const { name, namespace, uid } = podReference(pod);
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(fieldPath);
  if (keyed !== null) {
    const values = keyed[1] === "labels" ? pod.metadata?.labels : pod.metadata?.annotations;
    return found(values?.[keyed[2] ?? ""] ?? "");
  }
  switch (fieldPath) {
    case "metadata.name":
      return found(name);
    case "metadata.namespace":
      return found(namespace);
    case "metadata.uid":
      return found(uid);
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
      return { ok: false, error: `unsupported fieldPath: ${fieldPath}` };
  }
}

function hostIps(ips: readonly string[]): DownwardValue {
  return ips.length > 0 ? found(ips.join(",")) : { ok: false, error: "the node has no address yet" };
}

/**
 * A container's request or limit in units of the divisor, rounded up. A missing limit reads as what the node can give,
 * a missing request as 0.
 */
export function readResourceField(
  selector: ResourceFieldSelector,
  container: Container,
  context: DownwardContext,
): DownwardValue {
  const target = containerOf(selector, container, context.pod);
  if (target === undefined) return { ok: false, error: `container ${selector.containerName} not found` };
  const [, kind, resource = ""] = /^(limits|requests)\.(.+)$/.exec(selector.resource) ?? [];
  if (!/^(cpu|memory|ephemeral-storage|hugepages-.+)$/.test(resource)) {
    return { ok: false, error: `unsupported container resource: ${selector.resource}` };
  }
  const quantity =
    kind === "limits"
      ? limitOf(target, resource, context.node.allocatable)
      : (target.resources?.requests?.[resource] ?? "0");
  return found(divideUp(quantity, selector.divisor, resource));
}

function containerOf({ containerName }: ResourceFieldSelector, own: Container, pod: Pod): Container | undefined {
  if (!containerName || containerName === own.name) return own;
  return podContainers(pod).find(({ container }) => container.name === containerName)?.container;
}

function limitOf(container: Container, resource: string, allocatable: NodeFacts["allocatable"]): string {
  const limit = container.resources?.limits?.[resource];
  if (limit !== undefined && compareQuantities(limit, "0") !== 0) return limit;
  return resource.startsWith("hugepages-") ? "0" : (allocatable[resource] ?? "0");
}

/** CPU counts in thousandths, so that a divisor of `1m` can say them. */
function divideUp(quantity: string, divisor: string | undefined, resource: string): string {
  const unit = divisor === undefined || compareQuantities(divisor, "0") === 0 ? "1" : divisor;
  const amountOf = resource === "cpu" ? quantityMilliValue : quantityValue;
  const [dividend, by] = [amountOf(quantity), amountOf(unit)];
  return `${(dividend + by - 1n) / by}`;
}

function found(value: string): DownwardValue {
  return { ok: true, value };
}
