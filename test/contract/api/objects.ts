import type { KubeObject } from "../../../src/api/object.ts";
import type { ApiClient } from "./client.ts";

/** A namespace of a case's own, in which pods can be created. */
export async function newNamespace(client: ApiClient): Promise<string> {
  const { metadata } = await client.object("POST", "/api/v1/namespaces", { metadata: { generateName: "contract-" } });
  const { name = "" } = metadata;
  // kube-apiserver alone has no controller that makes it; where there is one, who is first does not matter.
  await client.json("POST", `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
  return name;
}

/** Paths of what lies in a namespace. */
export function pathsIn(namespace: string) {
  const core = `/api/v1/namespaces/${namespace}`;
  return {
    configMaps: `${core}/configmaps`,
    secrets: `${core}/secrets`,
    pods: `${core}/pods`,
    serviceAccounts: `${core}/serviceaccounts`,
    deployments: `/apis/apps/v1/namespaces/${namespace}/deployments`,
    leases: `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    budgets: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`,
    roles: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/roles`,
    roleBindings: `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}/rolebindings`,
  };
}

type Labels = Readonly<Record<string, string>>;

export function configMap(name: string, data: Labels = {}, labels?: Labels): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...(labels && { labels }) }, data };
}

/** No controller ever makes one in a fresh namespace: what is listed is what the case made. */
export function secret(name: string, value = "", labels?: Labels): object {
  const data = { value: Buffer.from(value).toString("base64") };
  return { apiVersion: "v1", kind: "Secret", metadata: { name, ...(labels && { labels }) }, data };
}

/** No scheduler of ours looks at it: its spec and status stay as the case makes them. */
export function pod(name: string, { labels, spec = {} }: { labels?: Labels; spec?: object } = {}): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, ...(labels && { labels }) },
    spec: { schedulerName: "contract", containers: [{ name: "main", image: "example.com/main:1" }], ...spec },
  };
}

export function deployment(name: string, replicas = 1): object {
  const labels = { app: name };
  const containers = [
    { name: "main", image: "example.com/main:1" },
    { name: "side", image: "example.com/side:1" },
  ];
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  };
}

/** The object with some of its fields replaced, for a PUT. */
export function changed(object: KubeObject, fields: Readonly<Record<string, unknown>>): object {
  return { ...object, ...fields };
}

/** The object with some of its metadata replaced; undefined takes a field away. */
export function changedMetadata(object: KubeObject, metadata: Readonly<Record<string, unknown>>): object {
  return { ...object, metadata: { ...object.metadata, ...metadata } };
}

export const namesOf = (objects: readonly KubeObject[]): string[] => objects.map(({ metadata }) => metadata.name ?? "");
export const revisionOf = ({ metadata }: KubeObject): number => Number(metadata.resourceVersion);
