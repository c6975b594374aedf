import { describe, expect, it } from "vitest";
import { LEASES, NODES, PODS } from "../../api/kube-resource.ts";
import { collectionPath, objectPath, withQuery } from "./request-path.ts";

describe("paths", () => {
  it.each([
    [collectionPath(PODS, undefined), "/api/v1/pods"],
    [collectionPath(PODS, ""), "/api/v1/pods"],
    [collectionPath(PODS, "default"), "/api/v1/namespaces/default/pods"],
    [collectionPath(NODES, "default"), "/api/v1/nodes"],
    [collectionPath(LEASES, "a"), "/apis/coordination.k8s.io/v1/namespaces/a/leases"],
    [objectPath(NODES, { namespace: "", name: "n" }), "/api/v1/nodes/n"],
    [objectPath(PODS, { namespace: "a", name: "b:c" }), "/api/v1/namespaces/a/pods/b%3Ac"],
    [objectPath(PODS, { namespace: "a", name: "b" }, "status"), "/api/v1/namespaces/a/pods/b/status"],
  ])("%s", (path, expected) => expect(path).toBe(expected));

  it.each([
    { namespace: "a", name: "" },
    { namespace: "", name: "b" },
    { namespace: "a", name: "b/status" },
    { namespace: "a", name: ".." },
    { namespace: "..", name: "b" },
    { namespace: "a", name: "b%2fc" },
  ])("refuses $namespace/$name", (name) => {
    expect(() => objectPath(PODS, name)).toThrow(/name/);
  });

  it("writes the parameters that have a value", () => {
    expect(withQuery("/p", { a: "x=1,y!=2", b: undefined, c: "" })).toBe("/p?a=x%3D1%2Cy%21%3D2");
    expect(withQuery("/p", {})).toBe("/p");
  });
});
