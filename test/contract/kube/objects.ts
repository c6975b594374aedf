import type { ConfigMap, Lease, Node, Pod, Secret } from "../../../src/api/gen/types.ts";
import { CONFIG_MAPS, SECRETS } from "../../../src/api/kube-resource.ts";
import type { KubeClient } from "../../../src/kube/port.ts";

export const namespace = "default";

let count = 0;
/** A name that no other case uses. */
export function newName(prefix: string): string {
  count += 1;
  return `${prefix}-${count}`;
}

export function configMap(name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace, labels }, data } satisfies ConfigMap;
}

export function node(name: string): Node {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

export function pod(name: string): Pod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: { nodeName: "a-node", containers: [{ name: "main", image: "example.com/main:1" }] },
  };
}

export function lease(name: string): Lease {
  const metadata = { name, namespace };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata,
    spec: { holderIdentity: "a", leaseDurationSeconds: 40 },
  };
}

/** The names of what a list gives. */
export function namesOf(items: ReadonlyArray<{ metadata?: { name?: string } }>): string[] {
  return items.map(({ metadata }) => metadata?.name ?? "").sort();
}

/** So many secrets under one label, which a list of several pages needs. */
export async function createSecrets(client: KubeClient, amount: number, label: string): Promise<void> {
  const secrets = Array.from({ length: amount }, (_, index): Secret => {
    const metadata = { name: `${label}-${index}`, namespace, labels: { set: label } };
    return { apiVersion: "v1", kind: "Secret", metadata };
  });
  await Promise.all(secrets.map(async (secret) => await client.create(SECRETS, secret)));
}

export async function createConfigMap(client: KubeClient, name: string, data = {}): Promise<ConfigMap> {
  return await client.create(CONFIG_MAPS, configMap(name, data));
}
