import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ClusterUnderTest, startClusterUnderTest } from "./cluster-under-test.ts";
import type { Kubectl } from "./kubectl.ts";
import { newestKubectl } from "./kubectl-binaries.ts";
import { rowsOf } from "./tables.ts";

const { minor } = newestKubectl();

const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.example.com" },
  spec: {
    group: "example.com",
    names: { kind: "Widget", plural: "widgets", singular: "widget", shortNames: ["wd"], categories: ["all"] },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" },
        },
        additionalPrinterColumns: [
          { name: "Size", type: "integer", jsonPath: ".spec.size" },
          { name: "Color", type: "string", jsonPath: ".spec.color", priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: "object",
            description: "A thing that is made.",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                properties: {
                  size: { type: "integer", minimum: 1, description: "How big it is." },
                  color: { type: "string", default: "red", enum: ["red", "blue"] },
                  replicas: { type: "integer" },
                },
              },
              status: { type: "object", properties: { phase: { type: "string" }, replicas: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
};
const widget = (name: string, spec: object) => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: { name },
  spec,
});

describe("kubectl finding out what is served", () => {
  let cluster: ClusterUnderTest;
  let kubectl: Kubectl;
  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    kubectl = cluster.kubectl;
    await kubectl.ok("create -f -", { input: WIDGETS });
    await kubectl.ok("wait --for=condition=Established crd/widgets.example.com --timeout=10s");
  });
  afterAll(async () => await cluster?.stop());

  it("lists versions and kinds", async () => {
    const versions = await kubectl.ok("api-versions");
    for (const version of [
      "v1",
      "apps/v1",
      "batch/v1",
      "example.com/v1",
      "policy/v1",
      "rbac.authorization.k8s.io/v1",
    ]) {
      expect(versions.split("\n")).toContain(version);
    }
    const kinds = await kubectl.ok("api-resources --no-headers");
    for (const line of [
      /^pods +po +v1 +true +Pod$/m,
      /^nodes +no +v1 +false +Node$/m,
      /^deployments +deploy +apps\/v1 +true +Deployment$/m,
      /^poddisruptionbudgets +pdb +policy\/v1 +true +PodDisruptionBudget$/m,
      /^widgets +wd +example\.com\/v1 +true +Widget$/m,
    ]) {
      expect(kinds).toMatch(line);
    }
    expect(await kubectl.ok("api-resources --api-group=example.com -o name")).toBe("widgets.example.com\n");
  });

  it("tells where and which the server is, and how it is", async () => {
    expect(await kubectl.ok("cluster-info")).toContain(cluster.url);
    expect(await kubectl.ok("version")).toMatch(/Server Version: .*v1\.36\.\d+/);
    expect(await kubectl.ok("get --raw /healthz")).toBe("ok");
    expect(await kubectl.ok("get --raw /readyz?verbose")).toMatch(/\[\+\]ping ok\n[\s\S]*readyz check passed/);
    expect(await kubectl.ok("get --raw /metrics")).toMatch(
      /^apiserver_request_total\{.*resource="customresourcedefinitions"/m,
    );
  });

  it("explains built-in kinds down to their fields", async () => {
    const explained = await kubectl.ok("explain pod");
    expect(explained).toMatch(/^KIND: +Pod\nVERSION: +v1\n/);
    expect(explained).toMatch(/^ +spec\t<(PodSpec|Object)>$/m);
    const containers = await kubectl.ok("explain pod.spec.containers");
    expect(containers).toMatch(/^ +name\t<string> -required-$/m);
    expect(containers).toMatch(/^ +image\t<string>$/m);
    expect(containers).toMatch(/^ +ports\t<\[\](ContainerPort|Object)>$/m);
    expect(await kubectl.ok("explain deployment.spec --recursive")).toMatch(
      /^ +maxUnavailable\t<(IntOrString|string)>$/m,
    );
    expect(await kubectl.fails("explain pod.spec.nothing")).toContain('field "nothing" does not exist');
  });

  it("explains a custom kind with the words of its definition", async () => {
    expect(await kubectl.ok("explain widget")).toContain("A thing that is made.");
    const size = await kubectl.ok("explain widget.spec.size");
    expect(size).toMatch(/<integer>/);
    expect(size).toContain("How big it is.");
    expect(await kubectl.ok("explain widget.spec")).toMatch(/^ +size\t<integer> -required-$/m);
  });

  it("works with objects of a custom kind as with built-in ones", async () => {
    expect(await kubectl.ok("apply -f -", { input: widget("one", { size: 3 }) })).toBe(
      "widget.example.com/one created\n",
    );
    expect(rowsOf(await kubectl.ok("get wd"))).toEqual(["NAME | SIZE", "one | 3"]);
    expect(rowsOf(await kubectl.ok("get wd -o wide"))).toEqual(["NAME | SIZE | COLOR", "one | 3 | red"]);
    expect(await kubectl.ok("get all -o name")).toContain("widget.example.com/one\n");
    expect(await kubectl.ok("scale widget one --replicas=4")).toBe("widget.example.com/one scaled\n");
    expect(await kubectl.ok("get widget one -o jsonpath={.spec}")).toBe('{"color":"red","replicas":4,"size":3}');
    expect(await kubectl.ok("describe widget one")).toMatch(/^ {2}Color: +red$/m);
    expect(await kubectl.ok(["patch", "wd", "one", "--type=merge", "-p", '{"spec":{"color":"blue"}}'])).toBe(
      "widget.example.com/one patched\n",
    );
    expect(await kubectl.fails(["patch", "wd", "one", "-p", "{}"])).toContain(
      "accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
    expect(await kubectl.ok("apply --server-side -f -", { input: widget("two", { size: 1 }) })).toBe(
      "widget.example.com/two serverside-applied\n",
    );
  });

  it("holds a custom kind to its schema", async () => {
    const input = widget("bad", { size: 0, color: "green" });
    const stderr = await kubectl.fails("create --validate=false -f -", { input });
    expect(stderr).toContain('The Widget "bad" is invalid: \n');
    expect(stderr).toContain('* spec.color: Unsupported value: "green": supported values: "red", "blue"\n');
    expect(stderr).toContain("* spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n");
    const unknown = await kubectl.fails("create -f -", { input: widget("bad", { size: 1, hue: 5 }) });
    expect(unknown).toContain(minor >= 27 ? 'strict decoding error: unknown field "spec.hue"' : 'unknown field "hue"');
  });

  it("forgets a custom kind with its definition", async () => {
    expect(await kubectl.ok("delete crd widgets.example.com")).toBe(
      'customresourcedefinition.apiextensions.k8s.io "widgets.example.com" deleted\n',
    );
    expect(await kubectl.fails("get widgets.v1.example.com")).toMatch(/NotFound|doesn't have a resource type/);
  });
});
