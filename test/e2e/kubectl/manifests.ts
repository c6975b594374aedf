import type { Kubectl } from "./kubectl.ts";

interface Metadata {
  name: string;
  namespace?: string;
  labels?: Record<string, string>;
  ownerReferences?: object[];
}

/** A pod of one container named `main`, which no scheduler but the test looks at (see `bind`). */
export function pod(metadata: Metadata, spec: object = {}, container: object = {}): object {
  const containers = [{ name: "main", image: "registry.example/app:1", ...container }];
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { schedulerName: "test", containers, ...spec } };
}

/** `key: value`. */
export function configMap(metadata: Metadata, data: Record<string, string> = { key: "value" }): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

/** A workload of `apps/v1`: ReplicaSet, DaemonSet or Deployment. */
export function workload(kind: string, metadata: Metadata, spec: object = {}): object {
  const labels = { app: metadata.name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "registry.example/app:1" }] } };
  return { apiVersion: "apps/v1", kind, metadata, spec: { selector: { matchLabels: labels }, template, ...spec } };
}

/** A worker as its kubelet would report it; its heartbeats are of long ago. */
export function node(name: string): object {
  const resources = { cpu: "4", memory: "8Gi", pods: "110" };
  const times = { lastHeartbeatTime: "2024-01-01T00:00:00Z", lastTransitionTime: "2024-01-01T00:00:00Z" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { "kubernetes.io/hostname": name, "node-role.kubernetes.io/worker": "" } },
    spec: { podCIDR: "10.1.0.0/24", podCIDRs: ["10.1.0.0/24"] },
    status: {
      capacity: resources,
      allocatable: resources,
      conditions: [{ type: "Ready", status: "True", reason: "KubeletReady", message: "the kubelet is well", ...times }],
      addresses: [
        { type: "InternalIP", address: "192.0.2.5" },
        { type: "Hostname", address: name },
      ],
      nodeInfo: {
        architecture: "amd64",
        bootID: "boot",
        containerRuntimeVersion: "containerd://2.0.0",
        kernelVersion: "6.1.0",
        kubeProxyVersion: "",
        kubeletVersion: "v1.35.0",
        machineID: "machine",
        operatingSystem: "linux",
        osImage: "Debian GNU/Linux 12 (bookworm)",
        systemUUID: "system",
      },
    },
  };
}

/** What a kubelet reports of a pod whose container `main` runs. */
export const RUNNING = {
  phase: "Running",
  conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z" }],
  podIP: "10.1.0.4",
  podIPs: [{ ip: "10.1.0.4" }],
  containerStatuses: [
    {
      name: "main",
      image: "registry.example/app:1",
      imageID: "sha256:1",
      ready: true,
      restartCount: 0,
      state: { running: { startedAt: "2024-01-01T00:00:00Z" } },
    },
  ],
};

/** Puts pods on a node as a scheduler does. */
export async function bind(kubectl: Kubectl, { pods, to, namespace = "default" }: Binding): Promise<void> {
  for (const name of pods) {
    const target = { apiVersion: "v1", kind: "Node", name: to };
    const input = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace }, target };
    await kubectl.ok(`create --raw /api/v1/namespaces/${namespace}/pods/${name}/binding -f -`, { input });
  }
}

interface Binding {
  pods: readonly string[];
  to: string;
  namespace?: string;
}

/** Merges into an object's status as its controller does, also with a kubectl that has no `--subresource` yet. */
export async function setStatus(kubectl: Kubectl, path: string, status: object): Promise<void> {
  const current: unknown = JSON.parse(await kubectl.ok(`get --raw ${path}`));
  if (typeof current !== "object" || current === null) throw new Error(`${path} is no object`);
  const before = "status" in current && typeof current.status === "object" ? current.status : {};
  await kubectl.ok(`replace --raw ${path}/status -f -`, { input: { ...current, status: { ...before, ...status } } });
}
