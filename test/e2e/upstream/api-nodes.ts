import type { Pod } from "../../../src/api/gen/types.ts";
import { PODS } from "../../../src/api/kube-resource.ts";
import { DEMO_IMAGE } from "../../../src/cluster/images/image-references.ts";
import type { ApiClient } from "../../contract/api/client.ts";

/** Nodes without an agent, and pods whose status the test writes: what schedulers and controllers look at. */

const PODS_PATH = "/api/v1/namespaces/default/pods";

interface NodeOptions {
  cpu?: string;
  labels?: Readonly<Record<string, string>>;
}

/** A node that said a moment ago that it is ready. */
export async function createReadyNode(api: ApiClient, name: string, { cpu = "1", labels }: NodeOptions = {}) {
  const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
  await api.object("POST", "/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata });
  const resources = { cpu, memory: "4Gi", pods: "20", "ephemeral-storage": "10Gi" };
  const now = new Date().toISOString().replace(/\.\d+Z/, "Z");
  const ready = { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" };
  const conditions = [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }];
  const status = { capacity: resources, allocatable: resources, conditions };
  const answer = await api.patch("merge", `/api/v1/nodes/${name}/status`, { status });
  if (answer.status !== 200) throw new Error(`the status of node ${name}: ${JSON.stringify(answer.body)}`);
}

/** A pod that asks for this much of a CPU, with the fields of `spec`. */
export function plainPod(name: string, spec: object = {}, cpu = "100m"): object {
  const resources = { requests: { cpu } };
  const containers = [{ name: "main", image: DEMO_IMAGE, resources }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers, automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, ...spec },
  };
}

export async function readPod(api: ApiClient, name: string): Promise<Pod | undefined> {
  const { status, body } = await api.json("GET", `${PODS_PATH}/${name}`);
  return status === 404 ? undefined : PODS.read(body);
}

/** The pods of a selector, by name. */
export async function listPods(api: ApiClient, labelSelector: string): Promise<Pod[]> {
  const { items } = await api.list(PODS_PATH, { labelSelector });
  return items.map((item) => PODS.read({ ...item, kind: "Pod" }));
}

/** What a kubelet would tell of the pod once its containers run, or are done. */
export async function reportPod(api: ApiClient, name: string, phase: "Running" | "Succeeded", podIP: string) {
  const isRunning = phase === "Running";
  const conditions = ["Initialized", "Ready", "ContainersReady"].map((type) => {
    return { type, status: isRunning || type === "Initialized" ? "True" : "False" };
  });
  const now = new Date().toISOString().replace(/\.\d+Z/, "Z");
  const state = isRunning ? { running: { startedAt: now } } : { terminated: { exitCode: 0, finishedAt: now } };
  const containerStatuses = [
    { name: "main", image: DEMO_IMAGE, imageID: "", ready: isRunning, restartCount: 0, started: isRunning, state },
  ];
  const status = { phase, podIP, podIPs: [{ ip: podIP }], startTime: now, conditions, containerStatuses };
  const answer = await api.patch("strategic", `${PODS_PATH}/${name}/status`, { status });
  if (answer.status !== 200) throw new Error(`the status of pod ${name}: ${JSON.stringify(answer.body)}`);
}
