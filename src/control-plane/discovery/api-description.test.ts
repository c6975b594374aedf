import { describe, expect, test } from "vitest";
import { isRecord } from "../../api/object.ts";
import { encodeProtobuf } from "../../api/protobuf/encode-protobuf.ts";
import { TABLE } from "./__fixtures__/api-table.ts";
import { type ApiDocument, describeApi } from "./api-description.ts";

const api = describeApi(TABLE);

function read(path: string, accept?: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(api.document(path, accept)?.body.toString() ?? "null");
  if (!isRecord(parsed)) throw new Error(`no document at ${path}`);
  return parsed;
}

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** As client-go of 1.30 and later asks. */
const CLIENT_GO = `${AGGREGATED},${AGGREGATED.replace("v=v2", "v=v2beta1")},application/json`;

describe("plain discovery", () => {
  test.each(["/api", "/apis", "/api/v1", "/apis/apps", "/apis/apps/v1"])("of %s says the same in protobuf", (path) => {
    const contentType = "application/vnd.kubernetes.protobuf";
    const body = encodeProtobuf(read(path));
    expect(api.document(path, contentType)).toMatchObject({ contentType, body });
  });

  test("names the core version and the server's address", () => {
    expect(read("/api")).toEqual({
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1:6443" }],
    });
  });

  test("lists groups in upstream's order, and versions from the most stable on, without those that are not served", () => {
    const version = (name: string) => ({ groupVersion: `a.example.com/${name}`, version: name });
    const apps = { groupVersion: "apps/v1", version: "v1" };
    const custom = {
      name: "a.example.com",
      versions: [version("v1"), version("v1beta1")],
      preferredVersion: version("v1"),
    };
    expect(read("/apis/")).toEqual({
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: [{ name: "apps", versions: [apps], preferredVersion: apps }, custom],
    });
    expect(read("/apis/a.example.com")).toEqual({ kind: "APIGroup", apiVersion: "v1", ...custom });
  });

  test("lists resources with their subresources, in order", () => {
    const verbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    expect(read("/api/v1")).toEqual({
      kind: "APIResourceList",
      groupVersion: "v1",
      resources: [
        {
          name: "namespaces",
          singularName: "namespace",
          namespaced: false,
          kind: "Namespace",
          verbs: verbs.filter((verb) => verb !== "deletecollection"),
          storageVersionHash: "Q3oi5N2YM8M=",
        },
        {
          name: "pods",
          singularName: "pod",
          namespaced: true,
          kind: "Pod",
          verbs,
          shortNames: ["po"],
          categories: ["all"],
          // As any kube-apiserver says for pods.
          storageVersionHash: "xPOwRZ+Yhw8=",
        },
        {
          name: "pods/eviction",
          singularName: "",
          namespaced: true,
          group: "policy",
          version: "v1",
          kind: "Eviction",
          verbs: ["create"],
        },
        { name: "pods/exec", singularName: "", namespaced: true, kind: "PodExecOptions", verbs: ["create", "get"] },
        { name: "pods/status", singularName: "", namespaced: true, kind: "Pod", verbs: ["get", "patch", "update"] },
      ],
    });
  });

  test.each([
    "/apis/nothing",
    "/apis/apps/v2",
    "/api/v2",
    "/apis/a.example.com/v1alpha1",
    "/apis/apps/v1/deployments",
    "/",
  ])("knows nothing of %s", (path) => {
    expect(api.document(path, undefined)).toBeUndefined();
  });
});

describe("aggregated discovery", () => {
  test("answers client-go in the newest form, and says so", () => {
    expect(api.document("/apis", CLIENT_GO)?.contentType).toBe(AGGREGATED);
    expect(read("/apis", CLIENT_GO)).toMatchObject({
      kind: "APIGroupDiscoveryList",
      apiVersion: "apidiscovery.k8s.io/v2",
      items: [
        {
          metadata: { name: "apps" },
          versions: [
            {
              version: "v1",
              freshness: "Current",
              resources: [
                {
                  resource: "deployments",
                  responseKind: { group: "", version: "", kind: "Deployment" },
                  scope: "Namespaced",
                  singularResource: "deployment",
                  shortNames: ["deploy"],
                  subresources: [
                    {
                      subresource: "scale",
                      responseKind: { group: "autoscaling", version: "v1", kind: "Scale" },
                      verbs: ["get", "patch", "update"],
                    },
                  ],
                },
              ],
            },
          ],
        },
        { metadata: { name: "a.example.com" }, versions: [{ version: "v1" }, { version: "v1beta1" }] },
      ],
    });
  });

  test("has the core group apart, without a name", () => {
    expect(read("/api", CLIENT_GO)["items"]).toMatchObject([{ metadata: {}, versions: [{ version: "v1" }] }]);
    expect(JSON.stringify(read("/api", CLIENT_GO)["items"])).not.toContain('"name"');
  });
});

describe("documents", () => {
  test("are made once, and the same from an equal table", () => {
    const paths = ["/api", "/apis", "/api/v1", "/apis/apps", "/openapi/v2", "/openapi/v3", "/openapi/v3/apis/apps/v1"];
    const again = describeApi({ ...TABLE });
    for (const path of paths) {
      const document = api.document(path, undefined);
      expect(api.document(path, undefined)).toBe(document);
      expect(again.document(path, undefined)?.etag).toBe(document?.etag);
    }
  });

  test("have another hash when the table differs", () => {
    const fewer = describeApi({ ...TABLE, kinds: TABLE.kinds.filter(({ version }) => version !== "v1beta1") });
    const etags = (document: ApiDocument | undefined) => document?.etag;
    expect(etags(fewer.document("/apis", CLIENT_GO))).not.toBe(etags(api.document("/apis", CLIENT_GO)));
    expect(etags(fewer.document("/openapi/v3/api/v1", undefined))).toBe(
      etags(api.document("/openapi/v3/api/v1", undefined)),
    );
  });

  test("of OpenAPI v3 are found through the index, under their hash", () => {
    const { paths } = read("/openapi/v3");
    const hash = api.document("/openapi/v3/apis/apps/v1", undefined)?.hash;
    expect(hash).toMatch(/^[0-9A-F]{128}$/);
    expect(paths).toMatchObject({ "apis/apps/v1": { serverRelativeURL: `/openapi/v3/apis/apps/v1?hash=${hash}` } });
    expect(Object.keys(isRecord(paths) ? paths : {})).toEqual([
      "api/v1",
      "apis/apps/v1",
      "apis/a.example.com/v1",
      "apis/a.example.com/v1beta1",
    ]);
  });
});

describe.each(["/openapi/v2", "/openapi/v3/"])("the document %s", (path) => {
  test("is made in parts, one for each kind or version, and is the same as at once", () => {
    const inParts = describeApi(TABLE);
    expect([...inParts.prepare(path)].length).toBeGreaterThan(3);
    const hash = inParts.document(path, undefined)?.hash ?? "no document";
    expect(describeApi(TABLE).document(path, undefined)?.hash).toBe(hash);
    expect([...inParts.prepare(path)]).toEqual([]);
  });

  test("is made in parts for each of two who ask at a time", () => {
    const both = describeApi(TABLE);
    const first = both.prepare(path)[Symbol.iterator]();
    first.next();
    expect([...both.prepare(path)].length).toBeGreaterThan(1);
  });
});
