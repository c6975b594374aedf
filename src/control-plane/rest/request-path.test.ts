import { describe, expect, it } from "vitest";
import { isTrue, parseRequestTarget } from "./request-path.ts";

const parse = (method: string, target: string) => {
  const url = new URL(target, "https://x");
  return parseRequestTarget(method, url.pathname, url.searchParams);
};

describe("the target of a request", () => {
  it.each([
    ["GET /api/v1/pods", "list", "/v1/pods//", ""],
    ["GET /api/v1/namespaces/a/pods", "list", "/v1/pods/a/", ""],
    ["GET /api/v1/namespaces/a/pods/b", "get", "/v1/pods/a/b", ""],
    ["HEAD /api/v1/namespaces/a/pods/b", "get", "/v1/pods/a/b", ""],
    ["GET /api/v1/namespaces/a/pods/b/log", "get", "/v1/pods/a/b", "log"],
    ["GET /api/v1/namespaces/a/pods?watch=true", "watch", "/v1/pods/a/", ""],
    ["GET /api/v1/watch/namespaces/a/pods", "watch", "/v1/pods/a/", ""],
    ["GET /api/v1/pods?watch=false", "list", "/v1/pods//", ""],
    ["POST /api/v1/namespaces/a/pods", "create", "/v1/pods/a/", ""],
    ["POST /api/v1/namespaces/a/pods/b/eviction", "create", "/v1/pods/a/b", "eviction"],
    ["PUT /apis/apps/v1/namespaces/a/deployments/b/scale", "update", "apps/v1/deployments/a/b", "scale"],
    ["PATCH /apis/apps/v1/namespaces/a/deployments/b", "patch", "apps/v1/deployments/a/b", ""],
    ["DELETE /api/v1/nodes/n", "delete", "/v1/nodes//n", ""],
    ["DELETE /api/v1/namespaces/a/pods", "deletecollection", "/v1/pods/a/", ""],
    // A namespace is in itself, for who may only look at one.
    ["GET /api/v1/namespaces/a", "get", "/v1/namespaces/a/a", ""],
    ["PUT /api/v1/namespaces/a/finalize", "update", "/v1/namespaces/a/a", "finalize"],
    ["GET /api/v1/namespaces", "list", "/v1/namespaces//", ""],
    ["OPTIONS /api/v1/pods", "options", "/v1/pods//", ""],
    ["GET /api/v1/namespaces/a/configmaps/a%2Fb", "get", "/v1/configmaps/a/a/b", ""],
  ])("of %s", (line, verb, place, subresource) => {
    const [method = "", target = ""] = line.split(" ");
    const found = parse(method, target);
    if (!found.isResource) throw new Error("no resource");
    const { group, version, resource, namespace, name } = found;
    expect([found.verb, `${group}/${version}/${resource}/${namespace}/${name}`]).toEqual([verb, place]);
    expect(found.subresource).toBe(subresource);
  });

  it.each([
    ["/api/v1/nodes/n/proxy", ""],
    ["/api/v1/nodes/n/proxy/", "/"],
    ["/api/v1/nodes/n/proxy//", "//"],
    ["/api/v1/nodes/n/proxy/a%2Fb//c%20d/", "/a%2Fb//c%20d/"],
    ["/api/v1/namespaces/a/pods/http:b:80/proxy/x", "/x"],
    ["/api/v1/watch/namespaces/a/pods/b/proxy/x", "/x"],
  ])("of %s has its rest as it was sent: %j", (path, rest) => {
    expect(parseRequestTarget("GET", path, new URLSearchParams())).toMatchObject({ subresource: "proxy", rest });
  });

  it.each(["/api/v1//pods", "/api/v1/pods//x", "/api/v1/namespaces//pods/a", "/api/v1/nodes/n//proxy"])(
    "%s is no resource: something is missing within",
    (path) => expect(parseRequestTarget("GET", path, new URLSearchParams())).toMatchObject({ isResource: false }),
  );

  it.each([
    "/",
    "/api",
    "/api/v1",
    "/apis",
    "/apis/apps",
    "/apis/apps/v1",
    "/healthz",
    "/openapi/v3/api/v1",
    "/api/v1/",
  ])("%s is no resource", (path) => expect(parse("GET", path)).toEqual({ isResource: false, verb: "get", path }));

  it.each([
    [null, false],
    ["", true],
    ["1", true],
    ["true", true],
    ["True", true],
    ["0", false],
    ["yes", false],
  ])("a query parameter of %j is %s", (text, expected) => expect(isTrue(text)).toBe(expected));
});
