import { once } from "node:events";
import { connect } from "node:http2";
import { beforeAll, describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { LOCAL_NODE } from "../../../src/testing/local-node.ts";
import { startCluster, type TestCluster } from "../../../src/testing/start-cluster.ts";
import { type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";
import { createPolicies } from "./policies.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/** Attempts to get more rights; each was once possible, or resembles one that was. */
describe("an API server under attack", () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  const clients: ApiClient[] = [];

  beforeAll(async () => {
    cluster = await startCluster();
    admin = connectAs(cluster.kubeconfig);
    return async () => {
      for (const client of clients) client.close();
      await cluster.stop();
    };
  });

  function connectAs(kubeconfig: string): ApiClient {
    const client = createApiClient(credentialsOf(kubeconfig));
    clients.push(client);
    return client;
  }

  /** A user whom a cluster role allows this and nothing else. */
  async function user(name: string, rule: object): Promise<ApiClient> {
    await admin.object("POST", `${RBAC}/clusterroles`, { metadata: { name }, rules: [rule] });
    await admin.object("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: [{ kind: "User", name }],
    });
    return connectAs((await cluster.addUser(name)).kubeconfig);
  }

  it("gives nothing to itself where a node says that it is the API server", async () => {
    const kubeletEndpoint = { Port: Number(new URL(cluster.url).port) };
    const status = { daemonEndpoints: { kubeletEndpoint } };
    await admin.object("POST", "/api/v1/nodes", { metadata: { name: LOCAL_NODE.name }, status });
    const proxy = `/api/v1/nodes/${LOCAL_NODE.name}/proxy`;
    for (const path of ["/api/v1/secrets", "/healthz", "/api/v1/namespaces/kube-system/secrets"]) {
      const answer = await admin.json("GET", `${proxy}${path}`);
      expect(answer).toMatchObject({ status: 401, body: { kind: "Status", reason: "Unauthorized" } });
    }
    await admin.json("DELETE", `/api/v1/nodes/${LOCAL_NODE.name}`);
  });

  it("lets nobody create by server-side apply who may only patch", async () => {
    const client = await user("patcher", { apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] });
    const apply = (data: object) =>
      client.patch("apply", `${CONFIG_MAPS}/applied`, { apiVersion: "v1", kind: "ConfigMap", data }, { query: OWNER });
    expect(await apply({ a: "1" })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('cannot create resource "configmaps"') },
    });
    await admin.object("POST", CONFIG_MAPS, { metadata: { name: "applied" } });
    expect(await apply({ a: "1" })).toMatchObject({ status: 200 });
  });

  it("lets nobody create by an update who may only update", async () => {
    const client = await user("putter", {
      apiGroups: ["coordination.k8s.io"],
      resources: ["leases"],
      verbs: ["update"],
    });
    const put = () => client.json("PUT", `${LEASES}/put`, { metadata: { name: "put" } });
    expect(await put()).toMatchObject({ status: 403 });
    expect(await admin.json("GET", `${LEASES}/put`)).toMatchObject({ status: 404 });
  });

  it("lets a policy keep services from addresses of others (CVE-2020-8554)", async () => {
    const policies = createPolicies(admin, { kind: "Validating", namespace: "default" });
    const expression = "!has(object.spec.externalIPs) || object.spec.externalIPs.size() == 0";
    await policies.register({ resources: ["services"], validations: [{ expression, message: "outer addresses" }] });
    const create = (name: string, spec: object) =>
      admin.json("POST", "/api/v1/namespaces/default/services", {
        metadata: { name },
        spec: { ports: [{ port: 443 }], ...spec },
      });
    expect(await create("plain", {})).toMatchObject({ status: 201 });
    expect(await create("greedy", { externalIPs: ["203.0.113.7"] })).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining("outer addresses") },
    });
    await policies.remove();
  });

  it("takes a name in a field selector for the name that a rule grants, and no other", async () => {
    const verbs = ["list"];
    const client = await user("named", { apiGroups: [""], resources: ["configmaps"], resourceNames: ["mine"], verbs });
    const select = (fieldSelector: string) => client.json("GET", CONFIG_MAPS, undefined, { query: { fieldSelector } });
    expect(await select("metadata.name=mine")).toMatchObject({ status: 200 });
    for (const other of ["metadata.name=other", "metadata.name!=mine", "metadata.namespace=mine", "metadata.name="]) {
      expect(await select(other)).toMatchObject({ status: 403 });
    }
    await admin.object("POST", CONFIG_MAPS, { metadata: { name: "other" } });
    expect(await select("metadata.name=mine,metadata.name=other")).toMatchObject({ status: 200, body: { items: [] } });
  });

  it("deletes no collection across all namespaces", async () => {
    expect(await admin.json("DELETE", "/api/v1/configmaps")).toMatchObject({ status: 405 });
  });

  it.each([{ audiences: "vault" }, { audiences: { length: 1 } }, { expirationSeconds: "abc" }])(
    "issues no token for a request with %j",
    async (spec) => {
      const path = "/api/v1/namespaces/default/serviceaccounts/default/token";
      expect(await admin.json("POST", path, { spec })).toMatchObject({ status: 400 });
    },
  );

  it("warns in any script about an object that it stores", async () => {
    const answer = await admin.json("POST", CONFIG_MAPS, { metadata: { name: "warned" }, "日本\u007f": 1 });
    expect(answer.status).toBe(201);
    const warning = Buffer.from(String(answer.headers["warning"]), "latin1").toString();
    expect(warning).toContain("日本");
  });

  it("refuses YAML whose aliases stand for more than an object can hold", async () => {
    const lines = Array.from({ length: 40 }, (_, i) => `b${i}: &a${i + 1} {p: *a${i}, q: *a${i}}`);
    const text = ["metadata: {name: bomb}", "a: &a0 {x: y}", ...lines].join("\n");
    const headers = { "content-type": "application/yaml" };
    expect(await admin.json("POST", CONFIG_MAPS, text, { headers })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining("aliases repeat too much") },
    });
  });

  it("counts requests in no series of the client's choice", async () => {
    const anonymous = createApiClient({ url: cluster.url, caPem: credentialsOf(cluster.kubeconfig).caPem });
    clients.push(anonymous);
    await anonymous.json("GET", "/api/v1/namespaces/default/pods/a/invented-part");
    expect(await callHttp2("INVENTED", "/api/v1/pods")).toBe(405);
    const { body } = await admin.json("GET", "/metrics");
    expect(String(body)).toContain("apiserver_request_total");
    expect(String(body)).not.toMatch(/invented/i);
  });

  it.each(["constructor", "__proto__", "toString"])(
    "refuses the method %s as any other that there is not",
    async (method) => {
      expect(await callHttp2(method, "/api/v1/pods")).toBe(405);
    },
  );

  it("takes no property of every object for the type of a patch", async () => {
    const headers = { "content-type": "constructor" };
    expect(await admin.json("PATCH", `${CONFIG_MAPS}/applied`, {}, { headers })).toMatchObject({ status: 415 });
  });

  it("ends a watch that is asked for with HEAD", async () => {
    const openWatches = async () => {
      const { body } = await admin.json("GET", "/metrics");
      return /^apiserver_longrunning_requests\{.*resource="limitranges".*\} (\d+)$/m.exec(String(body))?.[1] ?? "0";
    };
    expect(await callHttp2("HEAD", "/api/v1/limitranges?watch=true")).toBe(200);
    expect(await openWatches()).toBe("0");
  });

  /** Resolves with the status when the answer is over. */
  async function callHttp2(method: string, path: string): Promise<number> {
    const { url, caPem, certificatePem = "", keyPem = "" } = credentialsOf(cluster.kubeconfig);
    const session = connect(url, { ca: caPem, cert: certificatePem, key: keyPem });
    try {
      const call = session.request({ ":method": method, ":path": path });
      call.resume();
      const closed = once(call, "close");
      const [headers]: unknown[] = await once(call, "response");
      await closed;
      return Number(isRecord(headers) ? headers[":status"] : 0);
    } finally {
      session.destroy();
    }
  }
});

const OWNER = { fieldManager: "test" };
