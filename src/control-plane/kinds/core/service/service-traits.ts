import type { Service, ServiceSpec } from "../../../../api/gen/types.ts";

/** The spec, or an empty one. */
export function serviceSpec({ spec = {} }: Service): ServiceSpec {
  return spec;
}

/** Has no address of its own, by its author's will. */
export function isHeadless({ clusterIP, clusterIPs = [] }: ServiceSpec): boolean {
  return (clusterIP || clusterIPs[0]) === "None";
}

/** Is a name for something outside, with no addresses at all. */
export function isExternalName({ type }: ServiceSpec): boolean {
  return type === "ExternalName";
}

/** Traffic comes in from outside the cluster. */
export function isExternallyAccessible({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === "LoadBalancer" || type === "NodePort" || (type === "ClusterIP" && externalIPs.length > 0);
}

/** A load balancer must find out which nodes have a pod of the service. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === "LoadBalancer" && externalTrafficPolicy === "Local";
}

/** Nodes listen for it. */
export function needsNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === "NodePort" || (type === "LoadBalancer" && allocateLoadBalancerNodePorts !== false);
}
