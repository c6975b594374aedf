import { describe, expect, it } from "vitest";
import type { ManagedFieldsEntry } from "../gen/types.ts";
import type { KubeObject } from "../object.ts";
import { type SchemaNode, servedNode } from "../schema-node.ts";
import { fieldSetOf } from "./field-set.ts";
import { recordUpdate } from "./managed-fields.ts";

const T0 = Date.UTC(2024, 0, 1, 0, 0, 0, 789);
const UNTYPED: SchemaNode = { kind: "untyped" };

const pod: KubeObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: {
    name: "web",
    namespace: "default",
    uid: "1",
    creationTimestamp: "2024-01-01T00:00:00Z",
    labels: { run: "web" },
  },
  spec: {
    containers: [
      {
        name: "web",
        image: "nginx",
        imagePullPolicy: "Always",
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: { requests: { cpu: "100m" } },
      },
    ],
    restartPolicy: "Always",
    securityContext: {},
  },
  status: { phase: "Pending" },
};

function record(
  before: KubeObject | undefined,
  after: KubeObject,
  options: Partial<Parameters<typeof recordUpdate>[0]> = {},
): KubeObject {
  const node = servedNode(after.kind);
  return recordUpdate({
    before,
    after,
    node,
    manager: "kubectl-create",
    apiVersion: after.apiVersion,
    now: T0,
    ...options,
  });
}

const entriesOf = ({ metadata }: KubeObject) => metadata.managedFields ?? [];
const fieldsOf = (object: KubeObject, manager: string) => {
  return entriesOf(object).find((entry) => entry.manager === manager)?.fieldsV1;
};

describe("what upstream writes", () => {
  it("for a pod that kubectl creates", () => {
    const created = record(undefined, pod, { resetFields: fieldSetOf(["status"]) });
    expect(JSON.stringify(entriesOf(created), null, 1)).toMatchInlineSnapshot(`
      "[
       {
        "manager": "kubectl-create",
        "operation": "Update",
        "apiVersion": "v1",
        "time": "2024-01-01T00:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": {
         "f:metadata": {
          "f:labels": {
           ".": {},
           "f:run": {}
          }
         },
         "f:spec": {
          "f:containers": {
           "k:{\\"name\\":\\"web\\"}": {
            ".": {},
            "f:image": {},
            "f:imagePullPolicy": {},
            "f:name": {},
            "f:ports": {
             ".": {},
             "k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}": {
              ".": {},
              "f:containerPort": {},
              "f:protocol": {}
             }
            },
            "f:resources": {
             ".": {},
             "f:requests": {
              ".": {},
              "f:cpu": {}
             }
            }
           }
          },
          "f:restartPolicy": {},
          "f:securityContext": {}
         }
        }
       }
      ]"
    `);
  });

  it("for the status that the kubelet writes", () => {
    const created = record(undefined, pod, { resetFields: fieldSetOf(["status"]) });
    const status = {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2024-01-01T00:00:01Z" }],
      containerStatuses: [{ name: "web", ready: true }],
      podIP: "10.0.0.1",
      podIPs: [{ ip: "10.0.0.1" }],
    };
    const running = record(
      created,
      { ...created, status },
      { manager: "kubelet", subresource: "status", now: T0 + 1000 },
    );
    expect(JSON.stringify(entriesOf(running)[1], null, 1)).toMatchInlineSnapshot(`
      "{
       "manager": "kubelet",
       "operation": "Update",
       "apiVersion": "v1",
       "time": "2024-01-01T00:00:01Z",
       "fieldsType": "FieldsV1",
       "fieldsV1": {
        "f:status": {
         "f:conditions": {
          ".": {},
          "k:{\\"type\\":\\"Ready\\"}": {
           ".": {},
           "f:lastTransitionTime": {},
           "f:status": {},
           "f:type": {}
          }
         },
         "f:containerStatuses": {},
         "f:phase": {},
         "f:podIP": {},
         "f:podIPs": {
          ".": {},
          "k:{\\"ip\\":\\"10.0.0.1\\"}": {
           ".": {},
           "f:ip": {}
          }
         }
        }
       },
       "subresource": "status"
      }"
    `);
    expect(entriesOf(running)[0]).toBe(entriesOf(created)[0]);
  });

  it("for a deployment: what a Go struct always has is not owned by itself", () => {
    const template = {
      metadata: { labels: { app: "a" } },
      spec: { containers: [{ name: "a", image: "b" }], volumes: [{ name: "v", emptyDir: {} }] },
    };
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } };
    const spec = { replicas: 1, selector: { matchLabels: { app: "a" } }, strategy, template };
    const deployment = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a" }, spec };
    expect(JSON.stringify(fieldsOf(record(undefined, deployment), "kubectl-create"))).toMatchInlineSnapshot(
      `"{"f:spec":{"f:replicas":{},"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:image":{},"f:name":{}}},"f:volumes":{".":{},"k:{\\"name\\":\\"v\\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}}}"`,
    );
  });

  it("for a custom resource: there the spec itself is owned", () => {
    const object = {
      apiVersion: "x.example.com/v1",
      kind: "Widget",
      metadata: { name: "a" },
      spec: { size: 1, tags: ["a"], nested: { b: {} } },
    };
    expect(
      JSON.stringify(fieldsOf(record(undefined, object, { node: UNTYPED }), "kubectl-create")),
    ).toMatchInlineSnapshot(`"{"f:spec":{".":{},"f:nested":{".":{},"f:b":{}},"f:size":{},"f:tags":{}}}"`);
  });

  it("for a scale: the field that changed, through the subresource", () => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", uid: "1" },
      spec: { replicas: 1, paused: true },
    };
    const created = record(undefined, deployment);
    const scaled = record(
      created,
      { ...created, spec: { replicas: 3, paused: true } },
      { manager: "kubectl", subresource: "scale" },
    );
    expect(fieldsOf(scaled, "kubectl-create")).toEqual({ "f:spec": { "f:paused": {} } });
    expect(entriesOf(scaled)[0]).toEqual({
      manager: "kubectl",
      operation: "Update",
      apiVersion: "apps/v1",
      time: "2024-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
      subresource: "scale",
    });
  });
});

describe("an update", () => {
  const node = UNTYPED;
  const object = (spec: unknown, managedFields?: ManagedFieldsEntry[]): KubeObject => {
    return {
      apiVersion: "x.example.com/v1",
      kind: "X",
      metadata: { name: "a", uid: "1", ...(managedFields && { managedFields }) },
      spec,
    };
  };
  const first = record(undefined, object({ a: 1, b: 2, c: { d: 1 } }), { node, manager: "one" });

  it("without changes leaves the object as it is, times included", () => {
    const same = record(first, { ...first }, { node, manager: "two", now: T0 + 60_000 });
    expect(same.metadata.managedFields).toBe(first.metadata.managedFields);
    const stripped = record(first, object({ c: { d: 1 }, b: 2, a: 1 }), { node, manager: "two", now: T0 + 60_000 });
    expect(stripped.metadata.managedFields).toBe(first.metadata.managedFields);
  });

  it("takes over what it changes, and only that", () => {
    const second = record(first, object({ a: 1, b: 3, c: { d: 1, e: 1 } }), { node, manager: "two", now: T0 + 1000 });
    expect(fieldsOf(second, "one")).toEqual({ "f:spec": { ".": {}, "f:a": {}, "f:c": { ".": {}, "f:d": {} } } });
    expect(fieldsOf(second, "two")).toEqual({ "f:spec": { "f:b": {}, "f:c": { "f:e": {} } } });
    expect(entriesOf(second).map(({ time }) => time)).toEqual(["2024-01-01T00:00:00Z", "2024-01-01T00:00:01Z"]);
  });

  it("that removes makes its manager no owner of anything, and nobody an owner of what is gone", () => {
    const second = record(first, object({ a: 1 }), { node, manager: "two", now: T0 + 1000 });
    expect(entriesOf(second)).toHaveLength(1);
    expect(fieldsOf(second, "one")).toEqual({ "f:spec": { ".": {}, "f:a": {} } });
    expect(entriesOf(second)[0]?.time).toBe("2024-01-01T00:00:00Z");
  });

  it("adds to what its manager has in the same version and subresource, and to nothing else", () => {
    const options = { node, manager: "one", now: T0 + 1000 };
    const again = record(first, object({ a: 2, b: 2, c: { d: 1 } }), options);
    expect(entriesOf(again)).toHaveLength(1);
    expect(fieldsOf(again, "one")).toEqual(fieldsOf(first, "one"));
    expect(entriesOf(again)[0]?.time).toBe("2024-01-01T00:00:01Z");
    const other = record(again, object({ a: 3, b: 2, c: { d: 1 } }), { ...options, apiVersion: "v2" });
    const status = record(
      other,
      { ...other, spec: { a: 3, b: 4, c: { d: 1 } } },
      { ...options, subresource: "status" },
    );
    expect(entriesOf(status).map(({ apiVersion, subresource }) => [apiVersion, subresource])).toEqual([
      ["v2", undefined],
      ["x.example.com/v1", undefined],
      ["x.example.com/v1", "status"],
    ]);
  });

  it("of a map to a scalar and back leaves no owner of what is gone", () => {
    const scalar = record(first, object({ a: 1, b: 2, c: 5 }), { node, manager: "two" });
    expect(fieldsOf(scalar, "one")).toEqual({ "f:spec": { ".": {}, "f:a": {}, "f:b": {} } });
    expect(fieldsOf(scalar, "two")).toEqual({ "f:spec": { "f:c": {} } });
    const map = record(scalar, object({ a: 1, b: 2, c: { x: 1 } }), { node, manager: "one" });
    expect(fieldsOf(map, "two")).toBeUndefined();
    expect(fieldsOf(map, "one")).toEqual({
      "f:spec": { ".": {}, "f:a": {}, "f:b": {}, "f:c": { ".": {}, "f:x": {} } },
    });
  });

  it("never makes anybody own what the server keeps", () => {
    const next = { ...first, metadata: { ...first.metadata, generation: 4, resourceVersion: "9" } };
    expect(record(first, next, { node, manager: "two" }).metadata.managedFields).toBe(first.metadata.managedFields);
  });

  it("without a manager is by unknown", () => {
    expect(entriesOf(record(undefined, object(1), { node, manager: "" }))[0]?.manager).toBe("unknown");
  });

  describe("that sends managed fields", () => {
    const own: ManagedFieldsEntry[] = [
      {
        manager: "x",
        operation: "Update",
        apiVersion: "v1",
        fieldsType: "FieldsV1",
        fieldsV1: { "f:spec": { "f:a": {} } },
      },
    ];
    it.each([
      ["an empty list gives up tracking", [], undefined],
      ["one empty entry gives up tracking", [{}], undefined],
      ["other entries are taken", own, ["x"]],
      ["without an operation the stored ones stay", [{ ...own[0], operation: "" }], ["one"]],
      ["without a version the stored ones stay", [{ ...own[0], apiVersion: "" }], ["one"]],
      ["of another type the stored ones stay", [{ ...own[0], fieldsType: "FieldsV2" }], ["one"]],
      ["that cannot be read the stored ones stay", [{ ...own[0], fieldsV1: { bad: {} } }], ["one"]],
    ])("%s", (_, sent, managers) => {
      const next = record(first, object(first["spec"], sent), { node, manager: "two" });
      expect(next.metadata.managedFields?.map(({ manager }) => manager)).toEqual(managers);
    });

    it("through a subresource is not heard", () => {
      const next = record(first, object(first["spec"], []), { node, manager: "two", subresource: "status" });
      expect(next.metadata.managedFields).toBe(first.metadata.managedFields);
    });
  });

  it("of an object that is not tracked does not start to track it", () => {
    const { managedFields: _, ...metadata } = first.metadata;
    expect(record({ ...first, metadata }, object({ a: 9 }), { node }).metadata.managedFields).toBeUndefined();
  });

  it("leaves out what its endpoint resets", () => {
    const resetFields = fieldSetOf(["spec.c"]);
    const next = record(first, object({ a: 1, b: 2, c: { d: 7 } }), { node, manager: "two", resetFields });
    expect(next.metadata.managedFields).toBe(first.metadata.managedFields);
  });
});

describe("lists", () => {
  const service = (ports: unknown, finalizers: string[] = []): KubeObject => {
    return { apiVersion: "v1", kind: "Service", metadata: { name: "a", uid: "1", finalizers }, spec: { ports } };
  };
  const tcp = { port: 53, protocol: "TCP", targetPort: 53 };
  const udp = { port: 53, protocol: "UDP", targetPort: 53 };

  it("are owned item by item, whatever their order", () => {
    const first = record(undefined, service([tcp, udp], ["x/b", "x/a"]), { manager: "one" });
    const swapped = record(first, service([udp, tcp], ["x/a", "x/b"]), { manager: "two" });
    expect(swapped.metadata.managedFields).toBe(first.metadata.managedFields);
    const changed = record(first, service([tcp, { ...udp, targetPort: 1053 }], ["x/b", "x/c"]), { manager: "two" });
    expect(fieldsOf(changed, "two")).toEqual({
      "f:metadata": { "f:finalizers": { 'v:"x/c"': {} } },
      "f:spec": { "f:ports": { 'k:{"port":53,"protocol":"UDP"}': { "f:targetPort": {} } } },
    });
    expect(fieldsOf(changed, "one")).toMatchObject({ "f:metadata": { "f:finalizers": { ".": {}, 'v:"x/b"': {} } } });
  });

  it("with items that are there twice own those as one thing, by whoever changed it last", () => {
    const first = record(undefined, service([tcp, udp]), { manager: "one" });
    const twice = record(first, service([tcp, tcp, udp]), { manager: "two" });
    const key = 'k:{"port":53,"protocol":"TCP"}';
    expect(fieldsOf(twice, "two")).toEqual({ "f:spec": { "f:ports": { [key]: {} } } });
    expect(JSON.stringify(fieldsOf(twice, "one"))).not.toContain("TCP");
    const once = record(twice, service([tcp, udp]), { manager: "three" });
    expect(fieldsOf(once, "two")).toBeUndefined();
    const item = { ".": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {} };
    expect(fieldsOf(once, "three")).toEqual({ "f:spec": { "f:ports": { [key]: item } } });
  });

  it("that have become a single value since are owned as a whole by who owned a part", () => {
    const fields = { "f:spec": { "f:selector": { ".": {}, "f:matchLabels": { "f:app": {} } }, "f:replicas": {} } };
    const managedFields = [
      { manager: "old", operation: "Update", apiVersion: "apps/v1", fieldsType: "FieldsV1", fieldsV1: fields },
    ];
    const spec = { replicas: 1, selector: { matchLabels: { app: "a" } } };
    const stored: KubeObject = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "a", uid: "1", managedFields },
      spec,
    };
    const next = record(stored, { ...stored, spec: { ...spec, replicas: 2 } }, { manager: "two" });
    expect(fieldsOf(next, "old")).toEqual({ "f:spec": { "f:selector": {} } });
  });
});

describe("more than ten updaters", () => {
  const object = (count: number): KubeObject => {
    const spec = Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, index]));
    return { apiVersion: "x.example.com/v1", kind: "X", metadata: { name: "a", uid: "1" }, spec };
  };
  const write = (before: KubeObject | undefined, index: number, options = {}) => {
    return record(before, object(index + 1), {
      node: UNTYPED,
      manager: `m${index}`,
      now: T0 + index * 1000,
      ...options,
    });
  };

  it("have their oldest joined, and lose nothing", () => {
    let stored: KubeObject | undefined;
    for (let index = 0; index < 13; index++) stored = write(stored, index);
    const entries = stored ? entriesOf(stored) : [];
    expect(entries.map(({ manager }) => manager)).toEqual([
      "ancient-changes",
      ...Array.from({ length: 9 }, (_, index) => `m${index + 4}`),
    ]);
    const fields = { ".": {}, "f:f0": {}, "f:f1": {}, "f:f2": {}, "f:f3": {} };
    expect(entries[0]).toMatchObject({
      operation: "Update",
      time: "2024-01-01T00:00:03Z",
      fieldsV1: { "f:spec": fields },
    });
    expect(entries[0]).not.toHaveProperty("subresource");
  });

  it("of one age keep the bucket that there is", () => {
    let stored: KubeObject | undefined;
    for (let index = 0; index < 16; index++) stored = write(stored, index, { manager: `a${index}`, now: T0 });
    const fields = JSON.stringify(stored ? entriesOf(stored) : []);
    for (let index = 0; index < 16; index++) expect(fields).toContain(`"f:f${index}"`);
    expect(stored && entriesOf(stored)).toHaveLength(10);
  });
});
