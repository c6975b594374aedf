import type { Service, ServicePort, ServiceSpec } from "../../../../api/gen/types.ts";
import { type KubeObject, typed, untyped } from "../../../../api/object.ts";
import {
  isExternallyAccessible,
  isExternalName,
  needsHealthCheck,
  needsNodePorts,
  sameList,
  serviceSpec,
} from "./service-traits.ts";

/** Three hours, in seconds. */
const SESSION_TIMEOUT = 10_800;

/** Sets the defaults that do not depend on other services. Addresses and node ports are allocated later. */
export function defaultService(object: KubeObject): KubeObject {
  const service = typed("Service", object);
  return untyped({ ...service, spec: defaultSpec(serviceSpec(service)), ...defaultStatus(service) });
}

function defaultSpec(given: ServiceSpec): ServiceSpec {
  const { sessionAffinityConfig, ...rest } = given;
  const sessionAffinity = given.sessionAffinity || "None";
  const spec: ServiceSpec = { ...rest, sessionAffinity, type: given.type || "ClusterIP" };
  if (given.ports) spec.ports = given.ports.map(defaultPort);
  if (sessionAffinity === "ClientIP") {
    const timeoutSeconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? SESSION_TIMEOUT;
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds } };
  } else if (sessionAffinityConfig && sessionAffinity !== "None") {
    spec.sessionAffinityConfig = sessionAffinityConfig;
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= "Cluster";
  if (!isExternalName(spec)) spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
  return spec;
}

function defaultPort(port: ServicePort): ServicePort {
  return { ...port, protocol: port.protocol || "TCP", targetPort: port.targetPort || port.port };
}

function defaultStatus({ spec, status }: Service): Pick<Service, "status"> {
  const ingress = status?.loadBalancer?.ingress;
  if (spec?.type !== "LoadBalancer" || !ingress) return status ? { status } : {};
  const defaulted = ingress.map((entry) => (entry.ip ? { ...entry, ipMode: entry.ipMode ?? "VIP" } : entry));
  return { status: { ...status, loadBalancer: { ...status.loadBalancer, ingress: defaulted } } };
}

/** Prepares a new service, which has no load balancer yet. */
export function prepareService(object: KubeObject): KubeObject {
  const service = typed("Service", object);
  return untyped({
    ...service,
    spec: agreeOnClusterIps(serviceSpec(service), undefined),
    status: { loadBalancer: {} },
  });
}

/**
 * Keeps allocated values that the update leaves out, so that a manifest without addresses and ports can be applied
 * again and again, and drops values that make no sense for a new type.
 */
export function prepareServiceUpdate(next: KubeObject, current: KubeObject): KubeObject {
  const service = typed("Service", next);
  const old = serviceSpec(typed("Service", current));
  const kept = dropTypeDependent(keepAllocated(serviceSpec(service), old), old);
  return untyped({ ...service, spec: agreeOnClusterIps(kept, old) });
}

function keepAllocated(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const kept: ServiceSpec = { ...spec };
  if (!isExternalName(spec) && !isExternalName(old)) {
    if (!spec.clusterIP && old.clusterIP !== undefined) kept.clusterIP = old.clusterIP;
    const isListMissing = (spec.clusterIPs ?? []).length === 0 && kept.clusterIP === old.clusterIP;
    if (isListMissing && old.clusterIPs) kept.clusterIPs = old.clusterIPs;
    if (!spec.ipFamilies && old.ipFamilies) kept.ipFamilies = old.ipFamilies;
    if (!spec.ipFamilyPolicy && old.ipFamilyPolicy) kept.ipFamilyPolicy = old.ipFamilyPolicy;
  }
  if (needsNodePorts(old) && needsNodePorts(spec) && spec.ports)
    kept.ports = keepNodePorts(spec.ports, old.ports ?? []);
  if (needsHealthCheck(old) && needsHealthCheck(spec) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    kept.healthCheckNodePort = old.healthCheckNodePort;
  }
  return kept;
}

/** Keeps the node ports of ports with the same number and protocol. */
function keepNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): ServicePort[] {
  const given = new Set(ports.map(({ nodePort }) => nodePort));
  const kept = new Map<string, number | undefined>();
  for (const one of old) if (!kept.has(endOf(one))) kept.set(endOf(one), one.nodePort);
  return ports.map((entry) => {
    if (entry.nodePort) return entry;
    const before = kept.get(endOf(entry));
    if (!before || given.has(before)) return entry;
    given.add(before);
    return { ...entry, nodePort: before };
  });
}

const endOf = ({ port, protocol }: ServicePort) => `${protocol} ${port}`;

/** Drops values that were left unchanged while the type changed to one that has no use for them. */
function dropTypeDependent(given: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const spec: ServiceSpec = { ...given };
  if (isExternalName(spec) && !isExternalName(old)) {
    if (spec.clusterIP === old.clusterIP) delete spec.clusterIP;
    if (sameList(spec.clusterIPs, old.clusterIPs)) delete spec.clusterIPs;
    if (sameList(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies;
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy;
  }
  if (needsNodePorts(old) && !needsNodePorts(spec) && spec.ports) {
    spec.ports = dropNodePorts(spec.ports, old.ports ?? []);
  }
  if (needsHealthCheck(old) && !needsHealthCheck(spec) && spec.healthCheckNodePort === old.healthCheckNodePort) {
    delete spec.healthCheckNodePort;
  }
  if (old.type === "LoadBalancer" && spec.type !== "LoadBalancer") {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts;
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
  if (isExternallyAccessible(old) && !isExternallyAccessible(spec)) {
    if (spec.externalTrafficPolicy === old.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  }
  return spec;
}

/** Drops the node ports that ports of the same number had. */
function dropNodePorts(ports: readonly ServicePort[], old: readonly ServicePort[]): ServicePort[] {
  const placeOf = ({ port, nodePort }: ServicePort) => `${nodePort} ${port}`;
  const had = new Set(old.map(placeOf));
  return ports.map((entry) => {
    const { nodePort: _nodePort, ...rest } = entry;
    return had.has(placeOf(entry)) ? rest : entry;
  });
}

/**
 * Makes the single address and the list agree. Old clients know the single one, newer clients the list that begins with
 * it: the field that did not change follows the other.
 */
function agreeOnClusterIps(given: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec {
  const spec: ServiceSpec = { ...given };
  const { clusterIP = "", clusterIPs = [] } = spec;
  if (clusterIP !== "" && clusterIPs.length === 0) spec.clusterIPs = [clusterIP];
  if (old === undefined || clusterIP === (old.clusterIP ?? "") || !sameList(clusterIPs, old.clusterIPs)) return spec;
  if (clusterIP === "") delete spec.clusterIPs;
  else spec.clusterIPs = [clusterIP];
  return spec;
}
