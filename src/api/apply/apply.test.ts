import { describe, expect, it } from "vitest";
import { isApiError } from "../api-error.ts";
import type { KubeObject } from "../object.ts";
import { type SchemaNode, servedNode } from "../schema-node.ts";
import { type Application, applyObject } from "./apply.ts";
import { fieldSetOf } from "./field-set.ts";
import { recordUpdate } from "./managed-fields.ts";

const T0 = Date.UTC(2024, 0, 1);
const UNTYPED: SchemaNode = { kind: "untyped" };

type Options = Partial<Application>;

function apply(
  current: KubeObject | undefined,
  manager: string,
  applied: KubeObject,
  options: Options = {},
): KubeObject {
  const { apiVersion, kind } = applied;
  return applyObject({
    current,
    applied,
    node: servedNode(kind),
    manager,
    force: false,
    now: T0,
    apiVersion,
    ...options,
  });
}

function update(before: KubeObject | undefined, manager: string, after: KubeObject, options: Options = {}): KubeObject {
  const { apiVersion, kind } = after;
  return recordUpdate({ before, after, node: servedNode(kind), manager, now: T0, apiVersion, ...options });
}

const deployment = (spec: unknown, metadata: KubeObject["metadata"] = {}): KubeObject => {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", namespace: "default", ...metadata },
    spec,
  };
};
const pod = (spec: unknown): KubeObject => ({ apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec });
const custom = (spec: unknown): KubeObject => ({
  apiVersion: "x.example.com/v1",
  kind: "Widget",
  metadata: { name: "a" },
  spec,
});

const fieldsOf = ({ metadata }: KubeObject, manager: string) => {
  return metadata.managedFields?.find((entry) => entry.manager === manager)?.fieldsV1;
};

function errorOf(run: () => unknown) {
  try {
    run();
  } catch (error) {
    if (isApiError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("applying", () => {
  it("creates the object, and owns what the configuration mentions and nothing else", () => {
    const containers = [{ name: "web", image: "nginx", ports: [{ containerPort: 80 }] }];
    const applied = deployment({ replicas: 1, template: { spec: { containers } } }, { labels: { app: "a" } });
    const created = apply(undefined, "kubectl", applied);
    const { managedFields, ...metadata } = created.metadata;
    expect({ ...created, metadata }).toEqual(applied);
    expect(JSON.stringify(managedFields, null, 1)).toMatchInlineSnapshot(`
      "[
       {
        "manager": "kubectl",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "time": "2024-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
         "f:metadata": {
          "f:labels": {
           "f:app": {}
          }
         },
         "f:spec": {
          "f:replicas": {},
          "f:template": {
           "f:spec": {
            "f:containers": {
             "k:{\\"name\\":\\"web\\"}": {
              ".": {},
              "f:image": {},
              "f:name": {},
              "f:ports": {
               "k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}": {
                ".": {},
                "f:containerPort": {}
               }
              }
             }
            }
           }
          }
         }
        }
       }
      ]"
    `);
  });

  it("again changes nothing: the very object is returned", () => {
    const applied = deployment({ replicas: 1 }, { labels: { app: "a" } });
    const created = apply(undefined, "one", applied);
    expect(apply(created, "one", applied, { now: T0 + 60_000 })).toBe(created);
  });

  it("what another has set to the same value shares it, without a time because nothing was written", () => {
    const first = apply(undefined, "one", deployment({ replicas: 1, paused: true }));
    const shared = apply(first, "two", deployment({ replicas: 1 }));
    expect(fieldsOf(shared, "two")).toEqual({ "f:spec": { "f:replicas": {} } });
    expect(fieldsOf(shared, "one")).toEqual({ "f:spec": { "f:paused": {}, "f:replicas": {} } });
    expect(shared.metadata.managedFields?.find(({ manager }) => manager === "two")).not.toHaveProperty("time");
  });

  it("less takes away what only its manager had", () => {
    const first = apply(undefined, "one", deployment({ replicas: 1, paused: true, minReadySeconds: 5 }));
    const second = update(first, "two", deployment({ ...Object(first["spec"]), minReadySeconds: 6 }, first.metadata));
    const shared = apply(second, "three", deployment({ paused: true }));
    const less = apply(shared, "one", deployment({}));
    expect(less["spec"]).toEqual({ paused: true, minReadySeconds: 6 });
    expect(fieldsOf(less, "one")).toEqual({ "f:spec": {} });
  });

  it("of an object that was never tracked makes what is there belong to before-first-apply", () => {
    const stored = deployment({ replicas: 1, paused: true }, { uid: "1" });
    const error = errorOf(() => apply(stored, "one", deployment({ replicas: 2 })));
    expect(error.message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas',
    );
    const applied = apply(stored, "one", deployment({ replicas: 1 }));
    expect(fieldsOf(applied, "before-first-apply")).toEqual({ "f:spec": { "f:paused": {}, "f:replicas": {} } });
    expect(fieldsOf(applied, "one")).toEqual({ "f:spec": { "f:replicas": {} } });
  });

  it("another version is the same manager's", () => {
    const first = apply(undefined, "one", custom({ a: 1, b: 1 }), { node: UNTYPED });
    const next = { ...custom({ a: 1 }), apiVersion: "x.example.com/v2" };
    const second = apply({ ...first, apiVersion: next.apiVersion }, "one", next, { node: UNTYPED });
    expect(second["spec"]).toEqual({ a: 1 });
    expect(second.metadata.managedFields).toHaveLength(1);
  });

  it("leaves the fields that its endpoint resets to their owners", () => {
    const resetFields = fieldSetOf(["status"]);
    const stored = update(
      undefined,
      "kubelet",
      { ...pod({}), status: { phase: "Running" } },
      { subresource: "status" },
    );
    const applied = apply(stored, "one", { ...pod({ nodeName: "n" }), status: { phase: "Failed" } }, { resetFields });
    expect(fieldsOf(applied, "one")).toEqual({ "f:spec": { "f:nodeName": {} } });
    expect(fieldsOf(applied, "kubelet")).toEqual({ "f:status": { "f:phase": {} } });
  });
});

describe("a conflict", () => {
  const first = update(undefined, "kubectl-client-side-apply", deployment({ replicas: 1, paused: true }, { uid: "1" }));

  it("names the path and its owner as upstream does", () => {
    const error = errorOf(() => apply(first, "kubectl", deployment({ replicas: 2 })));
    expect(error.status).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using apps/v1: .spec.replicas',
      reason: "Conflict",
      details: {
        causes: [
          {
            reason: "FieldManagerConflict",
            message: 'conflict with "kubectl-client-side-apply" using apps/v1',
            field: ".spec.replicas",
          },
        ],
      },
      code: 409,
    });
  });

  it("with several owners lists them by name", () => {
    const scaled = update(first, "hpa", deployment({ replicas: 5, paused: true }, first.metadata), {
      subresource: "scale",
    });
    const shared = apply(scaled, "argo", deployment({ replicas: 5, minReadySeconds: 1 }));
    const error = errorOf(() => apply(shared, "mine", deployment({ replicas: 2, paused: false, minReadySeconds: 2 })));
    expect(error.message).toBe(
      [
        'Apply failed with 4 conflicts: conflicts with "argo":',
        "- .spec.minReadySeconds",
        "- .spec.replicas",
        'conflicts with "hpa" with subresource "scale" using apps/v1:',
        "- .spec.replicas",
        'conflicts with "kubectl-client-side-apply" using apps/v1:',
        "- .spec.paused",
      ].join("\n"),
    );
  });

  it("is overcome by force, and the others lose just that", () => {
    const forced = apply(first, "mine", deployment({ replicas: 2 }), { force: true });
    expect(forced["spec"]).toEqual({ replicas: 2, paused: true });
    expect(fieldsOf(forced, "mine")).toEqual({ "f:spec": { "f:replicas": {} } });
    expect(fieldsOf(forced, "kubectl-client-side-apply")).toEqual({ "f:spec": { "f:paused": {} } });
  });

  it("does not arise from what is left out: giving up a shared field keeps it", () => {
    const shared = apply(first, "mine", deployment({ replicas: 1 }));
    const given = apply(shared, "mine", deployment({}));
    expect(given["spec"]).toEqual({ replicas: 1, paused: true });
    expect(fieldsOf(given, "mine")).toEqual({ "f:spec": {} });
  });
});

describe("lists", () => {
  const node = servedNode("Pod");
  const port = (containerPort: number, rest = {}) => ({ containerPort, ...rest });

  it("merge by key: each applier has its items", () => {
    const first = apply(
      undefined,
      "one",
      pod({
        containers: [
          { name: "a", image: "1" },
          { name: "b", image: "1" },
        ],
      }),
    );
    const second = apply(first, "two", pod({ containers: [{ name: "b" }, { name: "c", image: "2" }] }));
    const less = apply(second, "one", pod({ containers: [{ name: "a", image: "1" }] }));
    expect(less["spec"]).toEqual({ containers: [{ name: "a", image: "1" }, { name: "b" }, { name: "c", image: "2" }] });
  });

  it("of ports take TCP for a protocol that is left out, on both sides", () => {
    const first = apply(
      undefined,
      "one",
      pod({ containers: [{ name: "a", ports: [port(53), port(53, { protocol: "UDP" })] }] }),
    );
    const stored = pod({
      containers: [{ name: "a", ports: [port(53, { protocol: "TCP" }), port(53, { protocol: "UDP" })] }],
    });
    const defaulted = { ...stored, metadata: first.metadata };
    const less = apply(defaulted, "one", pod({ containers: [{ name: "a", ports: [port(53)] }] }));
    expect(less["spec"]).toEqual({ containers: [{ name: "a", ports: [port(53, { protocol: "TCP" })] }] });
  });

  it("that are sets have an owner for each value", () => {
    const withFinalizers = (...finalizers: string[]) => ({
      ...pod({ nodeName: "n" }),
      metadata: { name: "a", finalizers },
    });
    const first = apply(undefined, "one", withFinalizers("x/a", "x/b"));
    const second = apply(first, "two", withFinalizers("x/b", "x/c"));
    const less = apply(second, "one", withFinalizers("x/a"));
    expect(less.metadata.finalizers).toEqual(["x/a", "x/b", "x/c"]);
  });

  it("that are atomic have one owner, and any change is a conflict", () => {
    const args = (...list: string[]) => pod({ containers: [{ name: "a", args: list }] });
    const first = apply(undefined, "one", args("x"));
    expect(errorOf(() => apply(first, "two", args("x", "y"))).details.causes?.[0]?.field).toBe(
      '.spec.containers[name="a"].args',
    );
    expect(apply(first, "two", args("x", "y"), { force: true })["spec"]).toEqual(args("x", "y")["spec"]);
  });

  it("atomic maps are replaced whole", () => {
    const first = apply(undefined, "one", pod({ nodeSelector: { a: "1", b: "2" } }));
    expect(apply(first, "one", pod({ nodeSelector: { c: "3" } }))["spec"]).toEqual({ nodeSelector: { c: "3" } });
    expect(errorOf(() => apply(first, "two", pod({ nodeSelector: { a: "1" } }))).details.causes?.[0]?.field).toBe(
      ".spec.nodeSelector",
    );
  });

  it.each([
    [{ containers: [{ name: "a" }, { name: "a" }] }, '.spec.containers: duplicate entries for key [name="a"]'],
    [
      { containers: [{ name: "a", ports: [port(80), port(80, { protocol: "TCP" })] }] },
      '.spec.containers[name="a"].ports: duplicate entries for key [containerPort=80,protocol="TCP"]',
    ],
    [
      { containers: [{ image: "x" }] },
      '.spec.containers: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn\'t have default values for any key fields)',
    ],
    [{ containers: { name: "a" } }, '.spec.containers: expected list, got {"name":"a"}'],
    [{ nope: 1 }, ".spec.nope: field not declared in schema"],
    [{ nodeName: ["a"] }, '.spec.nodeName: expected any scalar, got ["a"]'],
    [
      { nope: 1, tolerations: [{ no: 1 }] },
      "errors:\n  .spec.nope: field not declared in schema\n  .spec.tolerations[0].no: field not declared in schema",
    ],
  ])("%j is refused", (spec, problem) => {
    const error = errorOf(() => apply(undefined, "one", pod(spec), { node }));
    expect(error.message).toBe(`failed to create typed patch object (/a; /v1, Kind=Pod): ${problem}`);
    expect(error.reason).toBe("InternalError");
  });
});

describe("without a schema", () => {
  const node = UNTYPED;

  it("maps merge by key and lists are one value", () => {
    const first = apply(undefined, "one", custom({ a: { b: 1, c: 2 }, list: [{ name: "x" }] }), { node });
    const second = apply(first, "two", custom({ a: { d: 3 } }), { node });
    expect(second["spec"]).toEqual({ a: { b: 1, c: 2, d: 3 }, list: [{ name: "x" }] });
    expect(fieldsOf(first, "one")).toEqual({
      "f:spec": { ".": {}, "f:a": { ".": {}, "f:b": {}, "f:c": {} }, "f:list": {} },
    });
    const less = apply(second, "one", custom({ list: [{ name: "x" }] }), { node });
    expect(less["spec"]).toEqual({ a: { d: 3 }, list: [{ name: "x" }] });
  });

  it("a map that loses its last entry goes, unless somebody owns it", () => {
    const first = apply(undefined, "one", custom({ a: { b: 1 }, x: 1 }), { node });
    expect(apply(first, "one", custom({ x: 1 }), { node })["spec"]).toEqual({ x: 1 });
    const shared = apply(first, "two", custom({ a: {} }), { node });
    const less = apply(shared, "one", custom({ x: 1 }), { node });
    expect(less["spec"]).toEqual({ a: {}, x: 1 });
    expect(fieldsOf(less, "two")).toEqual({ "f:spec": { ".": {}, "f:a": {} } });
  });
});

describe("a request that cannot be", () => {
  it.each([
    [{ ...deployment({}), apiVersion: "apps/v1beta1" }, "invalid object type: apps/v1beta1, Kind=Deployment"],
    [{ ...deployment({}), apiVersion: "v1", kind: "Pod" }, "invalid object type: /v1, Kind=Pod"],
    [deployment({}, { managedFields: [] }), "metadata.managedFields must be nil"],
  ])("%j is a bad request", (applied, message) => {
    const error = errorOf(() => apply(deployment({}), "one", applied, { apiVersion: "apps/v1" }));
    expect([error.reason, error.message]).toEqual(["BadRequest", message]);
  });

  it("stored managed fields that cannot be read are the server's fault", () => {
    const stored = deployment({}, { managedFields: [{ manager: "x", operation: "Own" }] });
    expect(errorOf(() => apply(stored, "one", deployment({}))).message).toBe(
      "failed to decode managed fields: operation must be `Apply` or `Update`",
    );
  });
});
