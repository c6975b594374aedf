import type { KubeObject } from "../../api/object.ts";
import { rule } from "../access/default-role.ts";

/** Where the cluster's DNS is found. */
export interface ClusterDnsAddresses {
  /** The address of the service, which pods ask. */
  readonly serviceAddress: string;
  /** The address of the node at which the server listens. */
  readonly serverAddress: string;
}

/** The user that serves the cluster's names. */
export const CLUSTER_DNS_USER = "system:nodelet-dns";

const SERVICE = { name: "kube-dns", namespace: "kube-system" };
const ROLE = "system:nodelet-dns";
const RBAC = "rbac.authorization.k8s.io";
/** Tells our slice from that of a CoreDNS, whose service has the same name. */
const MANAGED_BY = { "endpointslice.kubernetes.io/managed-by": "nodelet" };

const PORTS = [
  { name: "dns", port: 53, protocol: "UDP" },
  { name: "dns-tcp", port: 53, protocol: "TCP" },
  { name: "metrics", port: 9153, protocol: "TCP" },
];

/** The name of the slice, which goes when somebody else serves the names. */
export const CLUSTER_DNS_SLICE = { resource: "endpointslices.discovery.k8s.io", ...SERVICE };

/** The service at which everybody looks for the cluster's DNS. It has no selector: the server is no pod. */
export function clusterDnsService({ serviceAddress }: ClusterDnsAddresses): KubeObject {
  const labels = { "k8s-app": "kube-dns", "kubernetes.io/cluster-service": "true", "kubernetes.io/name": "CoreDNS" };
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...SERVICE, labels },
    spec: {
      clusterIP: serviceAddress,
      ports: PORTS.map((port) => ({ ...port, targetPort: port.port })),
      type: "ClusterIP",
    },
  };
}

/** The endpoint of that service: an address of the node, not of a pod. */
export function clusterDnsSlice({ serverAddress }: ClusterDnsAddresses): KubeObject {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...SERVICE, labels: { "kubernetes.io/service-name": SERVICE.name, ...MANAGED_BY } },
    addressType: "IPv4",
    endpoints: [{ addresses: [serverAddress], conditions: { ready: true } }],
    ports: PORTS,
  };
}

/** True for the slice that we made. */
export function isOwnDnsSlice({ metadata }: KubeObject): boolean {
  return Object.entries(MANAGED_BY).every(([label, value]) => metadata.labels?.[label] === value);
}

/** The rights of the server: to read what has names. */
export const CLUSTER_DNS_POLICY: readonly KubeObject[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRole",
    metadata: { name: ROLE },
    rules: [rule("list watch", "", "namespaces services"), rule("list watch", "discovery.k8s.io", "endpointslices")],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: "ClusterRoleBinding",
    metadata: { name: ROLE },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: ROLE },
    subjects: [{ apiGroup: RBAC, kind: "User", name: CLUSTER_DNS_USER }],
  },
];
