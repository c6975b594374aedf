import { isIPv6 } from "node:net";
import { isRecord, type KubeObject } from "../../api/object.ts";
import { formatClusterKubeconfig } from "../../pki/kubeconfig.ts";
import { rule } from "../access/default-role.ts";
import { type ApiEndpoint, type ClusterFacts, isLocal } from "./first-objects.ts";

const NAME = { name: "cluster-info", namespace: "kube-public" };
const ROLE = { name: "kubeadm:bootstrap-signer-clusterinfo", namespace: NAME.namespace };
const RBAC = "rbac.authorization.k8s.io";
/** Tells our map from one that somebody else has written, such as `kubeadm init phase bootstrap-token`. */
const MANAGED_BY = { "app.kubernetes.io/managed-by": "nodelet" };

/** The name of the map. */
export const CLUSTER_INFO = { resource: "configmaps", ...NAME };

/**
 * The map by which `kubeadm join` finds and trusts the API server: it says where the server and which its authority is, and
 * the controller `bootstrapsigner` signs it with each bootstrap token that allows that.
 */
export function clusterInfo({ endpoint, clientAuthorityPem }: ClusterFacts): KubeObject {
  const kubeconfig = formatClusterKubeconfig({ server: serverOf(endpoint), caPem: clientAuthorityPem });
  const metadata = { ...NAME, labels: MANAGED_BY };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { kubeconfig } };
}

/** A server that listens at an address of its own is found there by other machines; otherwise it is where pods find it. */
function serverOf({ address, listenAddress = address, port }: ApiEndpoint): string {
  const reached = isLocal(listenAddress) ? address : listenAddress;
  const host = { "0.0.0.0": "127.0.0.1", "::": "::1" }[reached] ?? reached;
  return `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/**
 * Our map with the server and the authority of today, and the signatures that it has; undefined when nothing is to be
 * written. A map without our label is somebody else's, and stays as it is.
 */
export function reconcileClusterInfo(existing: KubeObject | undefined, wanted: KubeObject): KubeObject | undefined {
  if (existing === undefined) return wanted;
  const isOurs = Object.entries(MANAGED_BY).every(([label, value]) => existing.metadata.labels?.[label] === value);
  const [has, wants] = [existing["data"], wanted["data"]].map((data) => (isRecord(data) ? data : {}));
  if (!isOurs || has?.["kubeconfig"] === wants?.["kubeconfig"]) return undefined;
  return { ...existing, data: { ...has, ...wants } };
}

/**
 * Whoever joins has no credentials yet. These come with the map and not again: deleting the binding keeps strangers from
 * reading it, for good.
 */
export const CLUSTER_INFO_POLICY: readonly KubeObject[] = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: "Role",
    metadata: ROLE,
    rules: [rule("get", "", "configmaps", NAME.name)],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: "RoleBinding",
    metadata: ROLE,
    roleRef: { apiGroup: RBAC, kind: "Role", name: ROLE.name },
    subjects: [{ apiGroup: RBAC, kind: "User", name: "system:anonymous" }],
  },
];
