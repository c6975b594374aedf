import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeObject } from "../../../src/api/object.ts";
import { defineCronTabs } from "./cron-tabs.ts";
import { startFakeKubelet } from "./fake-kubelet.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace, pathsIn } from "./objects.ts";
import { reportPod, untilCount, untilObject, waitingTemplate } from "./workload-steps.ts";

const AT = "2026-01-01T12:00:00Z";
const autoscalersIn = (namespace: string) => `/apis/autoscaling/v2/namespaces/${namespace}/horizontalpodautoscalers`;
const replicasOf = (object: KubeObject) => Object(object["spec"]).replicas;
const conditionsOf = (object: KubeObject): object[] => Object(object["status"]).conditions ?? [];
const hasReason = (reason: string) => (object: KubeObject) =>
  conditionsOf(object).some((condition) => Object(condition).reason === reason);

function autoscaler(apiVersion: string, kind: string, spec: object = {}) {
  const scaleTargetRef = { apiVersion, kind, name: "web" };
  return { metadata: { name: "web" }, spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5, ...spec } };
}

const kubelet = await startFakeKubelet();
// Beside kube-apiserver alone there is no controller of autoscalers.
const ours = apiServersUnderTest().filter(({ isOurs }) => isOurs);

describe.each(ours)("autoscalers, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace = "";
  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
  });
  afterAll(async () => {
    await kubelet?.close();
  });

  const labels = { app: "web" };
  const selector = { matchLabels: labels };
  const apps = (plural: string) => `/apis/apps/v1/namespaces/${namespace}/${plural}`;
  const template = waitingTemplate(labels);

  it.skipIf(kubelet === undefined)("scale a deployment by what its node says that its pods use", async () => {
    const addresses = [{ type: "InternalIP", address: kubelet?.address }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: kubelet?.port } } };
    await server.admin.object("POST", "/api/v1/nodes", { metadata: { name: "measured" }, status });
    const placed = waitingTemplate(labels, { nodeName: "measured" });
    const spec = { replicas: 1, selector, template: placed };
    await server.admin.object("POST", apps("deployments"), { metadata: { name: "web" }, spec });
    const { pods } = pathsIn(namespace);
    const [pod] = await untilCount(server.admin, pods, { labelSelector: "app=web", count: 1 });
    if (pod === undefined) throw new Error("the deployment has no pod");
    await reportPod(server.admin, pod, { phase: "Running" });
    const { name, uid } = pod.metadata;
    const memory = { time: AT, workingSetBytes: 3 * 1024 * 1024 };
    const used = { name: "main", cpu: { time: AT, usageNanoCores: 1 }, memory };
    kubelet?.tellSummary(200, { node: {}, pods: [{ podRef: { name, namespace, uid }, containers: [used] }] });

    const target = { type: "AverageValue", averageValue: "1Mi" };
    const metrics = [{ type: "Resource", resource: { name: "memory", target } }];
    const asked = autoscaler("apps/v1", "Deployment", { metrics });
    await server.admin.object("POST", autoscalersIn(namespace), asked);
    await untilObject(server.admin, `${apps("deployments")}/web`, (object) => replicasOf(object) === 3);
    await untilCount(server.admin, pods, { labelSelector: "app=web", count: 3 });
    const path = `${autoscalersIn(namespace)}/web`;
    const scaled = await untilObject(server.admin, path, hasReason("SucceededRescale"));
    expect(scaled["status"]).toMatchObject({
      currentReplicas: 1,
      desiredReplicas: 3,
      lastScaleTime: expect.any(String),
      currentMetrics: [{ type: "Resource", resource: { name: "memory", current: { averageValue: "3Mi" } } }],
      conditions: [
        { type: "AbleToScale", status: "True" },
        { type: "ScalingActive", status: "True", reason: "ValidMetricFound" },
        { type: "ScalingLimited", status: "False", reason: "DesiredWithinRange" },
      ],
    });
  });

  it("keep to their bounds, for every kind that has a scale", async () => {
    namespace = await newNamespace(server.admin);
    const group = "autoscaled.example.com";
    await defineCronTabs(server.admin, group);
    const core = `/api/v1/namespaces/${namespace}/replicationcontrollers`;
    const targets: ReadonlyArray<[string, string, string, object]> = [
      ["apps/v1", "ReplicaSet", apps("replicasets"), { selector, template }],
      ["apps/v1", "StatefulSet", apps("statefulsets"), { selector, template, serviceName: "web" }],
      ["v1", "ReplicationController", core, { selector: labels, template }],
      [`${group}/v1`, "CronTab", `/apis/${group}/v1/namespaces/${namespace}/crontabs`, { schedule: "* * * * */5" }],
    ];
    for (const [apiVersion, kind, path, spec] of targets) {
      const created = { apiVersion, kind, metadata: { name: "web" }, spec: { replicas: 1, ...spec } };
      await server.admin.object("POST", path, created);
      const asked = { ...autoscaler(apiVersion, kind, { minReplicas: 2 }), metadata: { name: kind.toLowerCase() } };
      await server.admin.object("POST", autoscalersIn(namespace), asked);
      await untilObject(server.admin, `${path}/web`, (object) => replicasOf(object) === 2);
    }
  });

  it("are counted, as the work of all controllers and of the scheduler is", async () => {
    const { body } = await server.admin.json("GET", "/metrics", undefined, { headers: { accept: "text/plain" } });
    for (const series of [
      'workqueue_depth{name="horizontalpodautoscaler"}',
      'workqueue_depth{name="deployment"}',
      "horizontal_pod_autoscaler_controller_num_horizontal_pod_autoscalers",
      'scheduler_pending_pods{queue="active"}',
    ]) {
      expect(body).toContain(series);
    }
  });

  it("say what they cannot scale", async () => {
    namespace = await newNamespace(server.admin);
    await server.admin.object("POST", autoscalersIn(namespace), autoscaler("apps/v1", "Deployment"));
    const lost = await untilObject(server.admin, `${autoscalersIn(namespace)}/web`, hasReason("FailedGetScale"));
    const unable = "the HPA controller was unable to get the target's current scale";
    const message = `${unable}: deployments.apps "web" not found`;
    expect(conditionsOf(lost)).toMatchObject([{ type: "AbleToScale", status: "False", message }]);
    const job = { ...autoscaler("batch/v1", "Job"), metadata: { name: "job" } };
    await server.admin.object("POST", autoscalersIn(namespace), job);
    const unscalable = await untilObject(server.admin, `${autoscalersIn(namespace)}/job`, hasReason("FailedGetScale"));
    const without = `${unable}: the server could not find the requested resource`;
    expect(conditionsOf(unscalable)).toMatchObject([{ type: "AbleToScale", status: "False", message: without }]);
  });
});
