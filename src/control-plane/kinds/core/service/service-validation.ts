import type { FieldError } from "../../../../api/field-error.ts";
import type { ServicePort, ServiceSpec } from "../../../../api/gen/types.ts";
import { type KubeObject, typed } from "../../../../api/object.ts";
import { checkIpAddress, checkNonSpecial } from "../../../../api/validation/ip-address.ts";
import { validateLabels } from "../../../../api/validation/metadata.ts";
import { checkDnsLabel, checkDnsSubdomain, checkQualifiedName } from "../../../../api/validation/names.ts";
import { validatePortReference } from "../../../../api/validation/ports.ts";
import {
  duplicate,
  each,
  forbidden,
  inRange,
  invalid,
  invalidEach,
  oneOf,
  optionalOneOf,
  required,
} from "../../../../api/validation/problems.ts";
import { validateClusterIps } from "./service-cluster-ips.ts";
import { validateLoadBalancer } from "./service-load-balancer.ts";
import { isExternallyAccessible, isExternalName, isHeadless, needsHealthCheck, serviceSpec } from "./service-traits.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PORT_RANGE = [1, 65535] as const;
const MAX_SESSION_TIMEOUT = 86_400;

/** The problems of a defaulted service, before or after allocation: a missing address or node port is none. */
export function validateService(object: KubeObject): FieldError[] {
  const service = typed("Service", object);
  const spec = serviceSpec(service);
  return [
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels("spec.selector", spec.selector),
    ...validateSessionAffinity(spec),
    ...validateClusterIps(spec),
    ...each("spec.externalIPs", spec.externalIPs, (ip, path) => {
      const problems = checkIpAddress(ip);
      return invalidEach(path, ip, problems.length > 0 ? problems : checkNonSpecial(ip));
    }),
    ...oneOf("spec.type", spec.type, TYPES),
    ...validateNodePorts(spec),
    ...validateLoadBalancer(service),
    ...validateTrafficPolicies(spec),
  ];
}

function validateType(spec: ServiceSpec): FieldError[] {
  const { ports = [], type = "" } = spec;
  if (isExternalName(spec)) return validateExternalName(spec);
  if (isHeadless(spec)) {
    const isWrong = type === "LoadBalancer" || type === "NodePort";
    return isWrong ? [invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`)] : [];
  }
  return ports.length === 0 ? [required("spec.ports")] : [];
}

function validateExternalName({
  clusterIPs,
  ipFamilies,
  ipFamilyPolicy,
  externalName = "",
}: ServiceSpec): FieldError[] {
  const unused = { clusterIPs: clusterIPs?.length, ipFamilies: ipFamilies?.length, ipFamilyPolicy };
  const errors = Object.entries(unused)
    .filter(([, value]) => Boolean(value))
    .map(([field]) => forbidden(`spec.${field}`, "may not be set for ExternalName services"));
  // A trailing dot marks a complete name.
  const name = externalName.replace(/\.$/, "");
  if (name === "") return [...errors, required("spec.externalName")];
  return [...errors, ...invalidEach("spec.externalName", name, checkDnsSubdomain(name))];
}

function validatePorts({ ports = [] }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  return each("spec.ports", ports, (port, path) => {
    const { name = "", appProtocol, targetPort } = port;
    return [
      ...(name === "" ? requiredName(path, ports) : validateName(path, name, names)),
      ...inRange(`${path}.port`, port.port, PORT_RANGE),
      ...oneOf(`${path}.protocol`, port.protocol, ["SCTP", "TCP", "UDP"]),
      ...(targetPort === undefined ? [] : validatePortReference(`${path}.targetPort`, targetPort)),
      ...(appProtocol === undefined
        ? []
        : invalidEach(`${path}.appProtocol`, appProtocol, checkQualifiedName(appProtocol))),
    ];
  });
}

const requiredName = (path: string, ports: readonly ServicePort[]) =>
  ports.length > 1 ? [required(`${path}.name`)] : [];

function validateName(path: string, name: string, names: Set<string>): FieldError[] {
  const errors = invalidEach(`${path}.name`, name, checkDnsLabel(name));
  if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  names.add(name);
  return errors;
}

function validateSessionAffinity({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): FieldError[] {
  const path = "spec.sessionAffinityConfig";
  const errors = oneOf("spec.sessionAffinity", sessionAffinity, ["ClientIP", "None"]);
  if (sessionAffinity === "None" && sessionAffinityConfig) {
    return [...errors, forbidden(path, "must not be set when session affinity is None")];
  }
  if (sessionAffinity !== "ClientIP") return errors;
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if (seconds === undefined) return [...errors, required(path, "when session affinity type is ClientIP")];
  if (seconds > 0 && seconds <= MAX_SESSION_TIMEOUT) return errors;
  const detail = `must be greater than 0 and less than ${MAX_SESSION_TIMEOUT}`;
  return [...errors, invalid(`${path}.clientIP.timeoutSeconds`, seconds, detail)];
}

/** The problems of ports that occur twice for one protocol, both the service's own and the nodes'. */
function validateNodePorts({ type, ports = [] }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const nodePorts = new Set<string>();
  const own = new Set<string>();
  for (const [index, { port, nodePort, protocol = "" }] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    if (nodePort) {
      if (type === "ClusterIP")
        errors.push(forbidden(`${path}.nodePort`, "may not be used when `type` is 'ClusterIP'"));
      if (nodePorts.has(`${protocol}/${nodePort}`)) errors.push(duplicate(`${path}.nodePort`, nodePort));
      nodePorts.add(`${protocol}/${nodePort}`);
    }
    if (own.has(`${protocol}/${port}`)) errors.push(duplicate(path, { protocol, port }));
    own.add(`${protocol}/${port}`);
  }
  return errors;
}

function validateTrafficPolicies(spec: ServiceSpec): FieldError[] {
  const { externalTrafficPolicy, healthCheckNodePort, internalTrafficPolicy, trafficDistribution } = spec;
  const policies = ["Cluster", "Local"];
  const errors: FieldError[] = [];
  if (isExternallyAccessible(spec)) {
    errors.push(...oneOf("spec.externalTrafficPolicy", externalTrafficPolicy, policies));
  } else if (externalTrafficPolicy) {
    const detail = "may only be set for externally-accessible services";
    errors.push(invalid("spec.externalTrafficPolicy", externalTrafficPolicy, detail));
  }
  if (healthCheckNodePort && !needsHealthCheck(spec)) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.push(invalid("spec.healthCheckNodePort", healthCheckNodePort, detail));
  } else if (healthCheckNodePort) {
    errors.push(...inRange("spec.healthCheckNodePort", healthCheckNodePort, PORT_RANGE));
  }
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  return [
    ...errors,
    ...(isExternalName(spec) && internalTrafficPolicy === undefined
      ? []
      : oneOf("spec.internalTrafficPolicy", internalTrafficPolicy, policies)),
    ...optionalOneOf("spec.trafficDistribution", trafficDistribution, distributions),
  ];
}
