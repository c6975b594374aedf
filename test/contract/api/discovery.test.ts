import { describe, expect, it } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** The first minor version with all groups in one document, and with singular names of built-in resources. */
const AGGREGATED_SINCE = 30;
const SINGULAR_NAMES_SINCE = 27;
const ALL_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

describe.each(apiServersUnderTest())("discovery, on $name", (candidate) => {
  const server = useApiServer(candidate);
  const get = async (path: string, accept = "application/json") => {
    return server.admin.json("GET", path, undefined, { headers: { accept } });
  };

  /** An OpenAPI document: kube-apiserver calls some of them text/plain. */
  const document = async (path: string): Promise<{ status: number; body: unknown }> => {
    const { status, body } = await get(path);
    return { status, body: typeof body === "string" ? JSON.parse(body) : body };
  };

  it("names the versions of the core group", async () => {
    expect(await get("/api")).toMatchObject({ status: 200, body: { kind: "APIVersions", versions: ["v1"] } });
  });

  it("describes the kinds of the core group", async () => {
    const { body } = await get("/api/v1");
    expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: "v1" });
    const resources = isRecord(body) ? body["resources"] : [];
    const verbs = expect.arrayContaining(ALL_VERBS);
    const expected = [
      {
        name: "pods",
        singularName: server.minor >= SINGULAR_NAMES_SINCE ? "pod" : "",
        namespaced: true,
        kind: "Pod",
        shortNames: ["po"],
        categories: ["all"],
        verbs,
      },
      { name: "pods/status", namespaced: true, kind: "Pod", verbs: ["get", "patch", "update"] },
      { name: "pods/binding", namespaced: true, kind: "Binding", verbs: ["create"] },
      { name: "pods/eviction", group: "policy", version: "v1", kind: "Eviction", verbs: ["create"] },
      {
        name: "serviceaccounts/token",
        group: "authentication.k8s.io",
        version: "v1",
        kind: "TokenRequest",
        verbs: ["create"],
      },
      { name: "namespaces", namespaced: false, shortNames: ["ns"] },
      { name: "nodes", namespaced: false, shortNames: ["no"] },
    ];
    for (const resource of expected) expect(resources).toContainEqual(expect.objectContaining(resource));
  });

  it("names the groups, with their preferred versions", async () => {
    const { body } = await get("/apis");
    expect(body).toMatchObject({ kind: "APIGroupList", apiVersion: "v1" });
    const groups = isRecord(body) ? body["groups"] : [];
    for (const [name, version] of [
      ["apps", "v1"],
      ["autoscaling", "v2"],
      ["rbac.authorization.k8s.io", "v1"],
      ["apiextensions.k8s.io", "v1"],
    ]) {
      const preferredVersion = { groupVersion: `${name}/${version}`, version };
      expect(groups).toContainEqual(expect.objectContaining({ name, preferredVersion }));
    }
    expect(await get("/apis/apps")).toMatchObject({ status: 200, body: { kind: "APIGroup", name: "apps" } });
    expect(await get("/apis/apps/v1")).toMatchObject({
      body: {
        resources: expect.arrayContaining([
          expect.objectContaining({ name: "deployments", kind: "Deployment", shortNames: ["deploy"] }),
          expect.objectContaining({ name: "deployments/scale", group: "autoscaling", version: "v1", kind: "Scale" }),
        ]),
      },
    });
    expect(await get("/apis/nosuchgroup.example.com")).toMatchObject({ status: 404 });
  });

  it.each(["/api", "/apis"])("gives %s in one document, which clients keep by its ETag", async (path) => {
    if (server.minor < AGGREGATED_SINCE) return expect((await get(path, AGGREGATED)).status).toBe(406);
    const answer = await get(path, `${AGGREGATED},application/json`);
    expect(answer).toMatchObject({
      status: 200,
      headers: { "content-type": AGGREGATED, etag: expect.stringMatching(/^"[0-9A-F]+"$/) },
      body: { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" },
    });
    const known = { accept: AGGREGATED, "if-none-match": answer.headers.etag ?? "" };
    expect(await server.admin.json("GET", path, undefined, { headers: known })).toMatchObject({ status: 304 });
  });

  it("describes pods in the document of the core group", async ({ skip }) => {
    skip(server.minor < AGGREGATED_SINCE, "there is one since 1.30");
    const { body } = await get("/api", AGGREGATED);
    expect(body).toMatchObject({
      items: [
        {
          versions: [
            {
              version: "v1",
              freshness: "Current",
              resources: expect.arrayContaining([
                expect.objectContaining({
                  resource: "pods",
                  responseKind: { group: "", version: "", kind: "Pod" },
                  scope: "Namespaced",
                  singularResource: "pod",
                  shortNames: ["po"],
                  subresources: expect.arrayContaining([expect.objectContaining({ subresource: "status" })]),
                }),
              ]),
            },
          ],
        },
      ],
    });
  });

  it("has OpenAPI v3 documents, one for each group and version", async () => {
    const { body: index } = await document("/openapi/v3");
    expect(index).toMatchObject({
      paths: {
        "api/v1": { serverRelativeURL: expect.stringMatching(/^\/openapi\/v3\/api\/v1\?hash=/) },
        "apis/apps/v1": { serverRelativeURL: expect.any(String) },
      },
    });
    const url = /"api\/v1":\{"serverRelativeURL":"([^"]+)"/.exec(JSON.stringify(index))?.[1] ?? "";
    const { status, body } = await document(url);
    expect({ status, body }).toMatchObject({ status: 200, body: { openapi: expect.stringMatching(/^3\.0/) } });
    const pod = isRecord(body) && JSON.stringify(body["components"]).includes('"io.k8s.api.core.v1.Pod"');
    expect(pod).toBe(true);
    expect(JSON.stringify(body)).toContain('"x-kubernetes-group-version-kind"');
    expect(JSON.stringify(body)).toContain('"/api/v1/namespaces/{namespace}/pods/{name}"');
  });

  it("has one OpenAPI v2 document, as JSON and as protobuf", async () => {
    const { status, body } = await document("/openapi/v2");
    expect({ status, body }).toMatchObject({ status: 200, body: { swagger: "2.0" } });
    expect(JSON.stringify(body)).toContain('"io.k8s.api.core.v1.Pod"');
    const protobuf = await get("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    expect(protobuf.status).toBe(200);
    expect(protobuf.headers["content-type"]).toContain(server.minor >= 27 ? "protobuf" : "octet-stream");
  });

  it("says which version of Kubernetes it is", async () => {
    expect(await get("/version")).toMatchObject({
      status: 200,
      body: {
        major: "1",
        minor: expect.stringMatching(/^\d+\+?$/),
        gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/),
        platform: expect.stringContaining("/"),
      },
    });
  });

  it.each(["/healthz", "/livez", "/readyz"])("says at %s that it is well, and with verbose why", async (path) => {
    expect(await get(path)).toMatchObject({ status: 200, body: "ok" });
    const { body } = await get(`${path}?verbose`);
    expect(body).toEqual(expect.stringMatching(/^\[\+\]ping ok$/m));
    expect(body).toEqual(expect.stringMatching(new RegExp(`^${path.slice(1)} check passed$`, "m")));
    expect(await get(`${path}/ping`)).toMatchObject({ status: 200, body: "ok" });
    expect(await get(`${path}/nosuchcheck`)).toMatchObject({ status: 404 });
  });

  it("counts what its health checks found at /metrics/slis", async () => {
    await get("/livez", "text/plain");
    const { status, body } = await get("/metrics/slis", "text/plain");
    expect(status).toBe(200);
    expect(body).toMatch(/^kubernetes_healthcheck\{name="ping",type="livez"\} 1$/m);
    expect(body).toMatch(/^kubernetes_healthchecks_total\{name="ping",.*status="success".*\} [1-9]/m);
  });

  it("counts its requests", async () => {
    const { status, body } = await get("/metrics", "text/plain");
    expect(status).toBe(200);
    expect(body).toEqual(expect.stringMatching(/^apiserver_request_total\{.*\} \d+$/m));
  });

  it("tells whoever checks its tokens by themselves how", async () => {
    expect(await get("/.well-known/openid-configuration")).toMatchObject({
      status: 200,
      body: { issuer: "https://kubernetes.default.svc.cluster.local", jwks_uri: expect.any(String) },
    });
    expect(await get("/openid/v1/jwks", "*/*")).toMatchObject({
      body: { keys: [{ kty: expect.any(String), kid: expect.any(String), use: "sig" }] },
    });
  });
});
