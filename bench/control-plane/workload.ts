import { type Connection, expectStatus } from "./connection.ts";

const NAMESPACE = "bench";
const NODES = 10;
const APPLICATIONS = 50;

/** Where pods of the bench are created and listed. */
export const PODS_PATH = `/api/v1/namespaces/${NAMESPACE}/pods`;
/** The smallest objects that are written often: a node writes one every ten seconds. */
export const LEASES_PATH = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
/** Where config maps of the bench are created and listed. */
export const CONFIG_MAPS_PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
/** Selects every 50th of the pods. */
export const APPLICATION_SELECTOR = "app.kubernetes.io/name=application-7";
/** Selects every 10th of the pods. */
export const NODE_SELECTOR = "spec.nodeName=node-3";

/**
 * The namespace, with the service account that pods get: kube-apiserver alone has no controller that makes it. And the
 * nodes: pods of nodes that do not exist are collected.
 */
export async function prepareNamespace(connection: Connection): Promise<void> {
  const post = async (path: string, object: object) => {
    expectStatus(await connection.request({ method: "POST", path, body: JSON.stringify(object) }), 201, 409);
  };
  await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } });
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: NAMESPACE } };
  await post(`/api/v1/namespaces/${NAMESPACE}/serviceaccounts`, account);
  for (let index = 0; index < NODES; index++) {
    const conditions = [{ type: "Ready", status: "True", reason: "KubeletReady" }];
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: nodeName(index) }, status: { conditions } };
    await post("/api/v1/nodes", node);
  }
  await renewNodes(connection);
}

/** As their agents do every ten seconds: pods of nodes that say nothing for longer than 40 are given up one by one. */
export async function renewNodes(connection: Connection): Promise<void> {
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  for (let index = 0; index < NODES; index++) {
    const name = nodeName(index);
    const renewTime = new Date().toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    const change = { method: "PATCH", contentType: "application/merge-patch+json" } as const;
    const renewal = { ...change, path: `${path}/${name}`, body: JSON.stringify({ spec }) };
    const renewed = await connection.request(renewal);
    if (renewed.status !== 404) {
      expectStatus(renewed, 200);
      continue;
    }
    const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name }, spec };
    expectStatus(await connection.request({ method: "POST", path, body: JSON.stringify(lease) }), 201);
  }
}

/** Names sort as pods are created. */
export const podName = (index: number) => `pod-${String(index).padStart(5, "0")}`;
const nodeName = (index: number) => `node-${index % NODES}`;
export const leaseName = (index: number) => `lease-${index}`;

/** Resolves with the pod as it is stored. */
export async function createPod(connection: Connection, index: number): Promise<string> {
  const body = JSON.stringify(podManifest(podName(index), index));
  return expectStatus(await connection.request({ method: "POST", path: PODS_PATH, body }), 201);
}

/** Resolves with the lease as it is stored. */
export async function createLease(connection: Connection, index: number): Promise<string> {
  const lease = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: leaseName(index), namespace: NAMESPACE },
    spec: { holderIdentity: `node-${index}`, leaseDurationSeconds: 40 },
  };
  const call = { method: "POST", path: LEASES_PATH, body: JSON.stringify(lease) } as const;
  return expectStatus(await connection.request(call), 201);
}

/** A small object of which a cluster may have very many. Resolves with it as it is stored. */
export async function createConfigMap(connection: Connection, index: number): Promise<string> {
  const labels = { "app.kubernetes.io/name": `application-${index % APPLICATIONS}` };
  const metadata = { name: `settings-${index}`, namespace: NAMESPACE, labels };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "app.conf": "level=info\nmode=fast\n" } };
  const call = { method: "POST", path: CONFIG_MAPS_PATH, body: JSON.stringify(object) } as const;
  return expectStatus(await connection.request(call), 201);
}

/** A service's pod as operators write them. The server stores between 3 and 4 KiB for it. */
function podManifest(name: string, index: number): object {
  const application = `application-${index % APPLICATIONS}`;
  const probe = (path: string) => ({ httpGet: { path, port: "http" }, periodSeconds: 10, failureThreshold: 3 });
  const env = ["DATABASE_HOST", "LOG_LEVEL"].map((variable) => ({ name: variable, value: `${variable}-value` }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      namespace: NAMESPACE,
      labels: { "app.kubernetes.io/name": application, "app.kubernetes.io/instance": name, tier: "backend" },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080" },
    },
    spec: {
      nodeName: nodeName(index),
      containers: [
        {
          name: "server",
          image: `registry.example.com/team/${application}:v1.42.${index}`,
          args: ["--listen=:8080", "--metrics=:9090"],
          ports: [{ name: "http", containerPort: 8080 }],
          env: [...env, { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
          readinessProbe: probe("/ready"),
          volumeMounts: [{ name: "configuration", mountPath: "/etc/service", readOnly: true }],
        },
      ],
      securityContext: { runAsNonRoot: true, runAsUser: 10_001 },
      terminationGracePeriodSeconds: 30,
      volumes: [{ name: "configuration", configMap: { name: `${application}-configuration` } }],
    },
  };
}
