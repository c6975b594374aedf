import type { Service, ServiceSpec } from "../../../../api/gen/types.ts";

/** The spec, or an empty one. */
export function serviceSpec({ spec = {} }: Service): ServiceSpec {
  return spec;
}

/** True for a service whose author wants no address for it. */
export function isHeadless({ clusterIP, clusterIPs = [] }: ServiceSpec): boolean {
  return (clusterIP || clusterIPs[0]) === "None";
}

/** True for a service that is a name for an outside host and has no addresses. */
export function isExternalName({ type }: ServiceSpec): boolean {
  return type === "ExternalName";
}

/** True when traffic reaches the service from outside the cluster. */
export function isExternallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}

/** True when a load balancer must find out which nodes have a pod of the service. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** True when nodes listen on ports for the service. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}

/** True for lists of the same texts in the same order; a missing list is an empty one. */
export function sameList(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.join() === b.join();
}
