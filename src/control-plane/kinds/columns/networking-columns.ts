import type {
  EndpointSubset,
  Endpoints,
  Ingress,
  IngressClass,
  IPAddress,
  LoadBalancerIngress,
  Service,
} from "../../../api/gen/types.ts";
import { firstOf, labelsText, orNone, selectorText } from "./cell-text.ts";
import { AGE, columnsOf, NAME } from "./column.ts";

/** This many addresses, ports and hosts are shown, and the number of the others. */
const SHOWN = 3;

export const SERVICE_COLUMNS = columnsOf("Service", [
  NAME,
  { name: "Type", description: "How the service is reached.", cell: ({ spec }) => spec?.type ?? "" },
  {
    name: "Cluster-IP",
    description: "The service's address within the cluster.",
    cell: ({ spec }) => spec?.clusterIPs?.[0] ?? orNone(spec?.clusterIP),
  },
  { name: "External-IP", description: "The service's addresses for others.", cell: externalAddresses },
  { name: "Port(s)", description: "The service's ports.", cell: (service) => orNone(portsOf(service)) },
  AGE,
  {
    name: "Selector",
    wide: true,
    description: "Which pods serve.",
    cell: ({ spec }) => labelsText(spec?.selector),
  },
]);

function portsOf({ spec }: Service): string {
  const ports = (spec?.ports ?? []).map(({ port, nodePort, protocol = "TCP" }) => {
    return nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`;
  });
  return ports.join(",");
}

function externalAddresses({ spec, status }: Service): string {
  const { type = "", externalIPs = [], externalName = "" } = spec ?? {};
  switch (type) {
    case "ClusterIP":
    case "NodePort":
      return orNone(externalIPs.join(","));
    case "LoadBalancer": {
      const balanced = loadBalancerAddresses(status?.loadBalancer?.ingress);
      return [...balanced, ...externalIPs].join(",") || "<pending>";
    }
    case "ExternalName":
      return externalName;
    default:
      return "<unknown>";
  }
}

function loadBalancerAddresses(points: ReadonlyArray<Pick<LoadBalancerIngress, "ip" | "hostname">> = []): string[] {
  const addresses = points.map(({ ip, hostname }) => ip || hostname || "");
  return [...new Set(addresses)].filter(Boolean).toSorted();
}

export const ENDPOINTS_COLUMNS = columnsOf("Endpoints", [
  NAME,
  { name: "Endpoints", description: "Where the service's pods are.", cell: endpointsText },
  AGE,
]);

function endpointsText({ subsets = [] }: Endpoints): string {
  return subsets.length === 0 ? "<none>" : firstOf(subsets.flatMap(subsetAddresses), SHOWN);
}

function subsetAddresses({ ports = [], addresses = [] }: EndpointSubset): string[] {
  const ips = addresses.map(({ ip }) => ip);
  if (ports.length === 0) return ips;
  return ports.flatMap(({ port }) => ips.map((ip) => (ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`)));
}

export const ENDPOINT_SLICE_COLUMNS = columnsOf("EndpointSlice", [
  NAME,
  { name: "AddressType", description: "What kind of addresses these are.", cell: ({ addressType }) => addressType },
  {
    name: "Ports",
    description: "The ports that every endpoint serves.",
    cell: ({ ports = [] }) =>
      firstOf(
        ports.map(({ port, name }) => `${port ?? name ?? "*"}`),
        SHOWN,
      ) || "<unset>",
  },
  {
    name: "Endpoints",
    description: "Where the endpoints are.",
    cell: ({ endpoints = [] }) =>
      firstOf(
        endpoints.flatMap(({ addresses }) => addresses),
        SHOWN,
      ) || "<unset>",
  },
  AGE,
]);

export const INGRESS_COLUMNS = columnsOf("Ingress", [
  NAME,
  { name: "Class", description: "Who implements it.", cell: ({ spec }) => spec?.ingressClassName ?? "<none>" },
  { name: "Hosts", description: "The hosts that it answers for.", cell: ingressHosts },
  {
    name: "Address",
    description: "Where it is reached.",
    cell: ({ status }) => loadBalancerAddresses(status?.loadBalancer?.ingress).join(","),
  },
  {
    name: "Ports",
    description: "The ports that it opens.",
    cell: ({ spec }) => ((spec?.tls ?? []).length > 0 ? "80, 443" : "80"),
  },
  AGE,
]);

/**
 * The hosts of an ingress, counted as upstream does: rules without a host are not shown, but count among those that are
 * left out.
 */
function ingressHosts({ spec }: Ingress): string {
  const rules = spec?.rules ?? [];
  const hosts: string[] = [];
  for (const { host } of rules) {
    if (hosts.length === SHOWN) return `${hosts.join(",")} + ${rules.length - SHOWN} more...`;
    if (host) hosts.push(host);
  }
  return hosts.join(",") || "*";
}

export const INGRESS_CLASS_COLUMNS = columnsOf("IngressClass", [
  NAME,
  { name: "Controller", description: "Who implements the class.", cell: ({ spec }) => spec?.controller ?? "" },
  { name: "Parameters", description: "Where the class is configured.", cell: classParameters },
  AGE,
]);

function classParameters({ spec }: IngressClass): string {
  if (!spec?.parameters) return "<none>";
  const { kind, apiGroup, name } = spec.parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}

export const NETWORK_POLICY_COLUMNS = columnsOf("NetworkPolicy", [
  NAME,
  {
    name: "Pod-Selector",
    description: "Which pods it is about.",
    cell: ({ spec }) => orNone(selectorText(spec?.podSelector)),
  },
  AGE,
]);

export const SERVICE_CIDR_COLUMNS = columnsOf("ServiceCIDR", [
  NAME,
  { name: "CIDRs", description: "The ranges of addresses.", cell: ({ spec }) => (spec?.cidrs ?? []).join(",") },
  AGE,
]);

export const IP_ADDRESS_COLUMNS = columnsOf("IPAddress", [
  NAME,
  { name: "ParentRef", description: "Whose address it is.", cell: parentOf },
]);

function parentOf({ spec }: IPAddress): string {
  if (spec === undefined) return "<none>";
  const { group = "", resource, namespace = "", name } = spec.parentRef;
  const kind = `${resource}${group === "" ? "" : `.${group}`}`.toLowerCase();
  return [kind, ...(namespace === "" ? [] : [namespace]), name].join("/");
}
