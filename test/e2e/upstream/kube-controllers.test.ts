import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Pod } from "../../../src/api/gen/types.ts";
import { isRecord } from "../../../src/api/object.ts";
import { createReadyNode, listPods, plainPod, readPod, reportPod } from "./api-nodes.ts";
import { startKubeControllers } from "./control-programs.ts";
import { startUpstreamCluster, type UpstreamCluster } from "./upstream-cluster.ts";
import { findProblems, type RunningUpstream, readUpstreamProgram, titleOf } from "./upstream-program.ts";

const program = await readUpstreamProgram("KUBE_CONTROLLER_MANAGER_BIN");
const NAMESPACED = "/api/v1/namespaces/default";
const APPS = "/apis/apps/v1/namespaces/default";
const BATCH = "/apis/batch/v1/namespaces/default";
/** Its informers begin one after the other, and objects are put off that it has seen too late. */
const SETTLE = { timeout: 60_000 };

const EXPLAINED = [
  /^options\.go: The manifest file is empty, ignoring/,
  /^configmap_cafile_content\.go: .*missing content for CA bundle .*requestheader-client-ca-file/,
  /^probe\.go: Flexvolume plugin directory at \S+ does not exist/,
  // The use of long-lived tokens is not recorded, so that nobody may take them for unused.
  /^legacy_serviceaccount_token_cleaner\.go: .*legacy-service-account-token-tracking\\" not found/,
  // A controller of some distributions alone, whose roles they bring.
  /service-ca-cert-publisher/,
  // Two writers of one object: it reads it anew.
  /the object has been modified; please apply your changes to the latest version|Operation cannot be fulfilled/,
  // Its watch has not shown it yet what it has just written, or that an object went.
  /read version: \d+ is not as new as written version: \d+/,
  /^replica_set\.go: .*replicasets\.apps \S+ not found/,
];

/** Ours are off: two controllers of one kind would each make pods for the same object. */
describe
  .skipIf(program === undefined)
  .each([{ contentType: "application/vnd.kubernetes.protobuf" }, { contentType: "application/json" }])(
  `${titleOf("kube-controller-manager", "KUBE_CONTROLLER_MANAGER_BIN", program)} in place of our controllers ($contentType)`,
  ({ contentType }) => {
    let cluster: UpstreamCluster;
    let running: RunningUpstream;
    beforeAll(async () => {
      if (program === undefined) return;
      cluster = await startUpstreamCluster({ controllers: false });
      await createReadyNode(cluster.api, "one", { cpu: "4" });
      running = await startKubeControllers(cluster, program, { contentType });
    });
    afterAll(async () => {
      await running?.stop();
      await cluster?.stop();
    });

    const create = async (path: string, object: object) => await cluster.api.object("POST", path, object);
    const read = async (path: string): Promise<Record<string, unknown>> => {
      const { status, body } = await cluster.api.json("GET", path);
      return status === 200 && isRecord(body) ? body : {};
    };
    const statusOf = async (path: string) => (await read(path))["status"];
    const template = (app: string, spec: object = {}) => {
      const { spec: podSpec } = Object(plainPod("x", spec));
      return { metadata: { labels: { app } }, spec: podSpec };
    };
    const workload = (kind: string, name: string, spec: object = {}) => {
      const selector = { matchLabels: { app: name } };
      return { apiVersion: "apps/v1", kind, metadata: { name }, spec: { selector, template: template(name), ...spec } };
    };
    const podsOf = async (app: string) => await listPods(cluster.api, `app=${app}`);
    const runAll = async (pods: readonly Pod[], subnet: string) => {
      for (const [index, { metadata }] of pods.entries()) {
        await reportPod(cluster.api, metadata?.name ?? "", "Running", `10.1.${subnet}.${index + 1}`);
      }
    };

    it("makes what every namespace has", async () => {
      const account = async () => (await read(`${NAMESPACED}/serviceaccounts/default`))["kind"];
      await expect.poll(account, SETTLE).toBe("ServiceAccount");
      const authority = async () => (await read(`${NAMESPACED}/configmaps/kube-root-ca.crt`))["kind"];
      await expect.poll(authority, SETTLE).toBe("ConfigMap");
    });

    it("runs a Deployment, tells where its service leads, and keeps what a budget forbids to evict", async () => {
      await create(`${APPS}/deployments`, workload("Deployment", "web", { replicas: 2 }));
      const service = { metadata: { name: "web" }, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } };
      await create(`${NAMESPACED}/services`, { apiVersion: "v1", kind: "Service", ...service });
      const budget = { minAvailable: 2, selector: { matchLabels: { app: "web" } } };
      const policy = { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: "web" }, spec: budget };
      await create("/apis/policy/v1/namespaces/default/poddisruptionbudgets", policy);
      await expect.poll(async () => (await podsOf("web")).filter(({ spec }) => spec?.nodeName).length, SETTLE).toBe(2);
      await runAll(await podsOf("web"), "1");
      const available = { replicas: 2, readyReplicas: 2, availableReplicas: 2 };
      await expect.poll(async () => await statusOf(`${APPS}/deployments/web`), SETTLE).toMatchObject(available);
      const endpoints = async () => JSON.stringify((await read(`${NAMESPACED}/endpoints/web`))["subsets"] ?? []);
      await expect.poll(endpoints, SETTLE).toMatch(/10\.1\.1\.1.*10\.1\.1\.2/);
      const slices = async () => {
        const path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
        const { items } = await cluster.api.list(path, { labelSelector: "kubernetes.io/service-name=web" });
        return JSON.stringify(items.map((item) => item["endpoints"]));
      };
      await expect.poll(slices, SETTLE).toMatch(/10\.1\.1\.\d.*10\.1\.1\.\d/);
      const healthy = { currentHealthy: 2, desiredHealthy: 2, disruptionsAllowed: 0 };
      const kept = async () => await statusOf("/apis/policy/v1/namespaces/default/poddisruptionbudgets/web");
      await expect.poll(kept, SETTLE).toMatchObject(healthy);
      const [first] = await podsOf("web");
      const metadata = { name: first?.metadata?.name ?? "", namespace: "default" };
      const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata };
      const answer = await cluster.api.json("POST", `${NAMESPACED}/pods/${metadata.name}/eviction`, eviction);
      expect(answer.status).toBe(429);
    });

    it("rolls a Deployment's new template out, and takes all of it away with it", async () => {
      const change = { spec: { template: { metadata: { annotations: { version: "2" } } } } };
      await cluster.api.patch("merge", `${APPS}/deployments/web`, change);
      const isNew = ({ metadata }: Pod) => metadata?.annotations?.["version"] === "2";
      const rolled = async () => {
        const pods = await podsOf("web");
        await runAll(
          pods.filter((pod) => isNew(pod) && pod.spec?.nodeName && pod.status?.phase === "Pending"),
          "2",
        );
        return pods.map(isNew);
      };
      await expect.poll(rolled, SETTLE).toEqual([true, true]);
      await cluster.api.json("DELETE", `${APPS}/deployments/web`, { propagationPolicy: "Foreground" });
      const left = async () => [
        ...(await cluster.api.list(`${APPS}/deployments`)).items,
        ...(await cluster.api.list(`${APPS}/replicasets`)).items,
        ...(await podsOf("web")),
      ];
      await expect.poll(left, SETTLE).toEqual([]);
    });

    it("completes a Job, and starts the pods of a StatefulSet in order and of a DaemonSet on each node", async () => {
      const job = { template: template("task", { restartPolicy: "Never" }), completions: 2, parallelism: 2 };
      await create(`${BATCH}/jobs`, { apiVersion: "batch/v1", kind: "Job", metadata: { name: "task" }, spec: job });
      await expect.poll(async () => (await podsOf("task")).length, SETTLE).toBe(2);
      for (const { metadata } of await podsOf("task")) {
        await reportPod(cluster.api, metadata?.name ?? "", "Succeeded", "10.1.3.1");
      }
      await expect
        .poll(async () => await statusOf(`${BATCH}/jobs/task`), SETTLE)
        .toMatchObject({
          succeeded: 2,
          conditions: expect.arrayContaining([expect.objectContaining({ type: "Complete", status: "True" })]),
        });
      await create(`${APPS}/statefulsets`, workload("StatefulSet", "set", { replicas: 2, serviceName: "set" }));
      await expect.poll(async () => (await readPod(cluster.api, "set-0"))?.spec?.nodeName, SETTLE).toBe("one");
      expect(await readPod(cluster.api, "set-1")).toBeUndefined();
      await reportPod(cluster.api, "set-0", "Running", "10.1.4.1");
      await expect.poll(async () => (await readPod(cluster.api, "set-1"))?.metadata?.name, SETTLE).toBe("set-1");
      await create(`${APPS}/daemonsets`, workload("DaemonSet", "agent"));
      await createReadyNode(cluster.api, "two");
      const nodes = async () => (await podsOf("agent")).map(({ spec }) => spec?.nodeName).toSorted();
      await expect.poll(nodes, SETTLE).toEqual(["one", "two"]);
    });

    it("empties a namespace that goes", async () => {
      await create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "doomed" } });
      const settings = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } };
      await create("/api/v1/namespaces/doomed/configmaps", settings);
      await cluster.api.json("DELETE", "/api/v1/namespaces/doomed");
      const namespace = async () => (await cluster.api.json("GET", "/api/v1/namespaces/doomed")).status;
      await expect.poll(namespace, SETTLE).toBe(404);
    });

    it("finds nothing odd about the API server, nor that about it", () => {
      running.alive();
      expect(findProblems(running.log(), EXPLAINED)).toEqual([]);
      expect(cluster.complaints()).toEqual([]);
    });
  },
);
