import type { KubeObject } from "../../api/object.ts";
import { FRONT_PROXY_USER } from "../../api/user-names.ts";
import { USER_HEADERS } from "../aggregation/user-headers.ts";
import type { ClusterDnsAddresses } from "./cluster-dns-objects.ts";

/** The addresses at which pods reach the API server. */
export interface ApiEndpoint {
  /** The first address of the services' range. */
  readonly serviceAddress: string;
  readonly address: string;
  /** The address on which the API server itself listens, which may be loopback or all addresses. Default: `address`. */
  readonly listenAddress?: string;
  readonly port: number;
}

/** The facts about the cluster that its first objects contain. */
export interface ClusterFacts {
  readonly endpoint: ApiEndpoint;
  /** The addresses of a DNS server of ours for the cluster's names; undefined where somebody else serves them. */
  readonly clusterDns: ClusterDnsAddresses | undefined;
  /** The authority whose client certificates the API server believes, in PEM. */
  readonly clientAuthorityPem: string;
  /** The authority by whose certificates the API server calls those of others, in PEM; undefined where it calls none. */
  readonly frontAuthorityPem: string | undefined;
  /** True where a node keeps directories for the default storage class. */
  readonly hasLocalStorage: boolean;
}

/** The namespaces that every cluster has. */
export const FIRST_NAMESPACES: readonly KubeObject[] = ["default", "kube-system", "kube-public", "kube-node-lease"].map(
  (name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
);

/** The name of the service by which pods find the API server. */
export const API_SERVICE = { name: "kubernetes", namespace: "default" };

/** The `kubernetes` service, by which pods find the API server. */
export function apiService({ serviceAddress, port }: ApiEndpoint): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { ...API_SERVICE, labels: { component: "apiserver", provider: "kubernetes" } },
    spec: {
      clusterIP: serviceAddress,
      ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: port }],
      type: "ClusterIP",
    },
  };
}

/**
 * The endpoints of that service; none while the API is served on loopback only, where no pod can reach it. The server
 * may be elsewhere than at its last start, so they are kept as they are here.
 */
export function apiEndpoints({ address, port }: ApiEndpoint): KubeObject[] {
  if (isLocal(address)) return [];
  return [
    {
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { ...API_SERVICE, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      subsets: [{ addresses: [{ ip: address }], ports: [{ name: "https", port, protocol: "TCP" }] }],
    },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { ...API_SERVICE, labels: { "kubernetes.io/service-name": "kubernetes" } },
      addressType: address.includes(":") ? "IPv6" : "IPv4",
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: "https", port, protocol: "TCP" }],
    },
  ];
}

/** True for loopback and for the wildcards, which are no address at all. */
export function isLocal(address: string): boolean {
  return address.startsWith("127.") || ["::1", "0.0.0.0", "::"].includes(address);
}

/**
 * The config map by which programs that serve HTTPS beside the API server (kube-scheduler, for one) know the certificates
 * of the API server's users, and API servers of others the API server itself: it tells them by headers who asks.
 */
export function clientAuthority({
  clientAuthorityPem,
  frontAuthorityPem,
}: Pick<ClusterFacts, "clientAuthorityPem" | "frontAuthorityPem">): KubeObject {
  const metadata = { name: "extension-apiserver-authentication", namespace: "kube-system" };
  if (frontAuthorityPem === undefined) {
    return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "client-ca-file": clientAuthorityPem } };
  }
  const lists = { "requestheader-allowed-names": [FRONT_PROXY_USER], ...USER_HEADERS };
  const data = {
    "client-ca-file": clientAuthorityPem,
    "requestheader-client-ca-file": frontAuthorityPem,
    ...Object.fromEntries(Object.entries(lists).map(([key, values]) => [key, JSON.stringify(values)])),
  };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}
