import { isApiError } from "../api/api-error.ts";
import { isRecord, type KubeObject } from "../api/object.ts";
import { DEFAULT_POLICY, reconcilePolicy } from "./access/default-policy.ts";
import { SYSTEM_PRIORITY_CLASSES } from "./admission/priority.ts";
import { BUILT_IN_KINDS } from "./kind-rows.ts";
import { groupResource } from "./ports/resource-kind.ts";
import type { ResourceReader, ResourceWriter } from "./ports/resources.ts";

/** Where the API server itself is reached, as pods see it. */
export interface ApiEndpoint {
  /** The first address of the service range. */
  readonly serviceAddress: string;
  readonly address: string;
  readonly port: number;
}

/** What a cluster's first objects tell of it. */
interface ClusterFacts {
  readonly endpoint: ApiEndpoint;
  /** Whose client certificates the API server believes. */
  readonly clientAuthorityPem: string;
}

/** What every cluster begins with; what is there already stays, and what users changed is theirs. */
export async function bootstrapCluster(
  { reader, writer }: { reader: ResourceReader; writer: ResourceWriter },
  { endpoint, clientAuthorityPem }: ClusterFacts,
): Promise<void> {
  await Promise.all(NAMESPACES.map((name) => ensure({ reader, writer }, namespace(name), undefined)));
  const objects = [...SYSTEM_PRIORITY_CLASSES, apiService(endpoint), ...apiEndpoints(endpoint)];
  await Promise.all([
    ...objects.map((object) => ensure({ reader, writer }, object, undefined)),
    ensure({ reader, writer }, clientAuthority(clientAuthorityPem), reconcileData),
    ...DEFAULT_POLICY.map((object) => ensure({ reader, writer }, object, reconcilePolicy)),
  ]);
}

const NAMESPACES = ["default", "kube-system", "kube-public", "kube-node-lease"];

const namespace = (name: string): KubeObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

const RESOURCES: ReadonlyMap<string, string> = new Map(
  BUILT_IN_KINDS.map((kind) => [
    `${kind.group === "" ? "" : `${kind.group}/`}${kind.version}/${kind.kind}`,
    groupResource(kind),
  ]),
);

async function ensure(
  { reader, writer }: { reader: ResourceReader; writer: ResourceWriter },
  wanted: KubeObject,
  reconcile: ((existing: KubeObject | undefined, wanted: KubeObject) => KubeObject | undefined) | undefined,
): Promise<void> {
  const resource = RESOURCES.get(`${wanted.apiVersion}/${wanted.kind}`) ?? "";
  const { namespace: place = "", name = "" } = wanted.metadata;
  const existing = reader.get({ resource, namespace: place, name });
  try {
    if (existing === undefined) {
      await writer.create(resource, wanted);
      return;
    }
    const changed = reconcile?.(existing, wanted);
    if (changed !== undefined) await writer.update(resource, changed);
  } catch (error) {
    if (!isApiError(error, "AlreadyExists")) throw error;
  }
}

const API_SERVICE = { name: "kubernetes", namespace: "default" };

/** The `kubernetes` service, which pods find the API server by. */
function apiService({ serviceAddress, port }: ApiEndpoint): KubeObject {
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

/** Where the service leads; nowhere while the API is served on loopback only, where no pod can reach it. */
function apiEndpoints({ address, port }: ApiEndpoint): KubeObject[] {
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

/** Loopback, and the wildcards, which are no address at all. */
function isLocal(address: string): boolean {
  return address.startsWith("127.") || ["::1", "0.0.0.0", "::"].includes(address);
}

/** By which programs that serve HTTPS beside the API server (kube-scheduler, for one) know its users' certificates. */
function clientAuthority(pem: string): KubeObject {
  const metadata = { name: "extension-apiserver-authentication", namespace: "kube-system" };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "client-ca-file": pem } };
}

/** The entries that are wanted, over what else is there. */
function reconcileData(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  if (existing === undefined) return wanted;
  const data = isRecord(existing["data"]) ? existing["data"] : {};
  const entries = Object.entries(isRecord(wanted["data"]) ? wanted["data"] : {});
  if (entries.every(([key, value]) => data[key] === value)) return undefined;
  return { ...existing, data: { ...data, ...Object.fromEntries(entries) } };
}
