import type { Service, ServicePort } from "../../../api/gen/types.ts";
import type { EnvironmentVariable } from "./environment.ts";
import { MAX_VARIABLES } from "./environment-limits.ts";

/** The services of one namespace, as the API has them. */
export interface ServiceSource {
  list(namespace: string): readonly Service[];
}

const MASTER_NAMESPACE = "default";
const MASTER_SERVICE = "kubernetes";

/**
 * Computes the variables by which a pod finds services. The API server's own are always among them. With
 * `enableServiceLinks` the services of the pod's namespace are too, and one called `kubernetes` takes the API server's
 * place. A service without an address of its own has no variables. Follows getServiceEnvVarMap and pkg/kubelet/envvars;
 * the order is that of the services' names. Once there are more than one environment may have, the others are left out.
 */
export function computeServiceVariables(
  services: ServiceSource,
  namespace: string,
  enableServiceLinks: boolean,
): EnvironmentVariable[] {
  const visible = new Map<string, Service>();
  const add = (service: Service) => {
    if (hasAddress(service)) visible.set(service.metadata?.name ?? "", service);
  };
  services.list(MASTER_NAMESPACE).filter(isMaster).forEach(add);
  if (enableServiceLinks) services.list(namespace).forEach(add);
  const byName = [...visible].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const variables: EnvironmentVariable[] = [];
  for (const [name, service] of byName) {
    if (variables.length > MAX_VARIABLES) break;
    // One service may have more of them than a call may have arguments.
    for (const variable of knownVariables(name, service)) variables.push(variable);
  }
  return variables;
}

/** Each pod that starts asks for those of all services, of which few changed since the last one. */
const variablesOf = new WeakMap<Service, readonly EnvironmentVariable[]>();

function knownVariables(name: string, service: Service): readonly EnvironmentVariable[] {
  const known = variablesOf.get(service);
  if (known !== undefined) return known;
  const variables = serviceVariables(variableName(name), service);
  variablesOf.set(service, variables);
  return variables;
}

function isMaster({ metadata }: Service): boolean {
  return metadata?.name === MASTER_SERVICE;
}

/** True for a service that is neither headless nor a mere alias of a name outside. */
function hasAddress({ spec }: Service): boolean {
  const { clusterIP = "" } = spec ?? {};
  return clusterIP !== "" && clusterIP !== "None";
}

function serviceVariables(prefix: string, { spec }: Service): EnvironmentVariable[] {
  const { clusterIP = "", ports = [] } = spec ?? {};
  const [first] = ports;
  if (first === undefined) return [];
  const named = ports.filter(({ name }) => name !== undefined && name !== "");
  return [
    { name: `${prefix}_SERVICE_HOST`, value: clusterIP },
    { name: `${prefix}_SERVICE_PORT`, value: `${first.port}` },
    ...named.map(({ name = "", port }) => ({ name: `${prefix}_SERVICE_PORT_${variableName(name)}`, value: `${port}` })),
    { name: `${prefix}_PORT`, value: portUrl(first, clusterIP) },
    ...ports.flatMap((port) => linkVariables(prefix, port, clusterIP)),
  ];
}

/** These are the variables that Docker's `--link` would have set. */
function linkVariables(prefix: string, port: ServicePort, address: string): EnvironmentVariable[] {
  const { protocol = "TCP" } = port;
  const name = `${prefix}_PORT_${port.port}_${protocol.toUpperCase()}`;
  return [
    { name, value: portUrl(port, address) },
    { name: `${name}_PROTO`, value: protocol.toLowerCase() },
    { name: `${name}_PORT`, value: `${port.port}` },
    { name: `${name}_ADDR`, value: address },
  ];
}

function portUrl({ protocol = "TCP", port }: ServicePort, address: string): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return `${protocol.toLowerCase()}://${host}:${port}`;
}

function variableName(name: string): string {
  return name.replaceAll("-", "_").toUpperCase();
}
