import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeKubelet } from "./fake-kubelet.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { changed, newNamespace, pathsIn, pod } from "./objects.ts";

const METRICS = "/apis/metrics.k8s.io/v1beta1";
const AT = "2026-01-01T12:00:00Z";
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const used = { cpu: { time: AT, usageNanoCores: 2_000_000 }, memory: { time: AT, workingSetBytes: 3 * 1024 * 1024 } };
const AMOUNTS = { cpu: "2m", memory: "3Mi" };

const kubelet = await startFakeKubelet();
/** A kube-apiserver has these resources from a metrics-server beside it. */
const ours = apiServersUnderTest().filter(({ isOurs }) => isOurs);

describe.skipIf(kubelet === undefined).each(ours)("metrics.k8s.io, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace = "";

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
    await createNode("measured", kubelet?.port ?? 0);
    // Nobody listens at this port.
    await createNode("silent", 1);
    const uid = await createPod("web", "measured", { app: "web" });
    await createPod("other", "silent", {});
    kubelet?.tellSummary(200, {
      node: used,
      pods: [{ podRef: { name: "web", namespace, uid }, containers: [{ name: "main", ...used }] }],
    });
  });
  afterAll(async () => {
    await kubelet?.close();
  });

  async function createNode(name: string, port: number): Promise<void> {
    const addresses = [{ type: "InternalIP", address: kubelet?.address }];
    const status = { addresses, daemonEndpoints: { kubeletEndpoint: { Port: port } } };
    await server.admin.object("POST", "/api/v1/nodes", { metadata: { name, labels: { of: name } }, status });
  }

  async function createPod(name: string, nodeName: string, labels: Record<string, string>): Promise<string> {
    const { pods } = pathsIn(namespace);
    const spec = { nodeName, containers: [{ name: "main", image: "example.com/main:1" }] };
    await server.admin.object("POST", pods, pod(name, { labels, spec }));
    const path = `${pods}/${name}/status`;
    const current = await server.admin.object("GET", path);
    await server.admin.object("PUT", path, changed(current, { status: { phase: "Running" } }));
    return current.metadata.uid ?? "";
  }

  const get = (path: string, options = {}) => server.admin.json("GET", `${METRICS}${path}`, undefined, options);

  it("is found by discovery", async () => {
    expect(await server.admin.json("GET", "/apis/metrics.k8s.io")).toMatchObject({
      body: { versions: [{ version: "v1beta1" }] },
    });
    expect(await get("")).toMatchObject({
      status: 200,
      body: {
        resources: [
          { name: "nodes", kind: "NodeMetrics", namespaced: false, verbs: ["get", "list"] },
          { name: "pods", kind: "PodMetrics", namespaced: true, verbs: ["get", "list"] },
        ],
      },
    });
    const openapi = await server.admin.json("GET", "/openapi/v3/apis/metrics.k8s.io/v1beta1");
    const schemas = { "io.k8s.metrics.pkg.apis.metrics.v1beta1.PodMetrics": { properties: { containers: {} } } };
    expect(openapi).toMatchObject({ status: 200, body: { components: { schemas } } });
  });

  it("tells what nodes use, as far as they answer", async () => {
    const measured = { metadata: { name: "measured", labels: { of: "measured" } }, timestamp: AT, usage: AMOUNTS };
    const { body } = await get("/nodes");
    expect(body).toMatchObject({ kind: "NodeMetricsList", items: [measured] });
    expect(await get("/nodes/measured")).toMatchObject({ status: 200, body: measured });
    const message = 'nodemetrics.metrics.k8s.io "silent" not found';
    expect(await get("/nodes/silent")).toMatchObject({ status: 404, body: { reason: "NotFound", message } });
  });

  it("tells what pods use, by labels and names", async () => {
    const web = { metadata: { name: "web", namespace }, containers: [{ name: "main", usage: AMOUNTS }] };
    const one = { body: { kind: "PodMetricsList", items: [web] } };
    const none = { status: 200, body: { items: [] } };
    expect(await get("/pods")).toMatchObject(one);
    expect(await get("/namespaces/default/pods")).toMatchObject(none);
    const list = `/namespaces/${namespace}/pods`;
    expect(await get(list, { query: { labelSelector: "app=web" } })).toMatchObject(one);
    expect(await get(list, { query: { labelSelector: "app=db" } })).toMatchObject(none);
    expect(await get(list, { query: { fieldSelector: "metadata.name=other" } })).toMatchObject(none);
    expect(await get(`${list}/web`)).toMatchObject({ status: 200, body: web });
    const message = `podmetrics.metrics.k8s.io "${namespace}/other" not found`;
    expect(await get(`${list}/other`)).toMatchObject({ status: 404, body: { message } });
    expect(await get(list, { query: { labelSelector: "a b" } })).toMatchObject({ status: 400 });
  });

  it("prints them in tables", async () => {
    const { body } = await get(`/namespaces/${namespace}/pods`, { headers: TABLE });
    expect(body).toMatchObject({
      kind: "Table",
      columnDefinitions: [
        { name: "Name", format: "name" },
        { name: "cpu", format: "quantity" },
        { name: "memory", format: "quantity" },
        { name: "Window", format: "duration" },
      ],
      rows: [{ cells: ["web", "2m", "3Mi", "15s"], object: { kind: "PartialObjectMetadata" } }],
    });
  });

  it("is only read", async () => {
    expect(await server.admin.json("POST", `${METRICS}/nodes`, {})).toMatchObject({ status: 405 });
    expect(await server.admin.json("DELETE", `${METRICS}/nodes/measured`)).toMatchObject({ status: 405 });
    expect(await get("/nodes", { query: { watch: "1" } })).toMatchObject({ status: 405 });
  });
});
