import { describe, expect, it } from "vitest";
import { ApiError } from "../api-error.ts";
import { servedNode } from "../schema-node.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

type Json = Readonly<Record<string, unknown>>;

function apply(type: string, document: unknown, patch: unknown): unknown {
  const before = JSON.stringify([document, patch]);
  const patched = applyStrategicMergePatch(document, patch, servedNode(type));
  expect(JSON.stringify([document, patch])).toBe(before);
  return patched;
}

/** Patches a pod's spec, because most merge rules are there. */
const patchSpec = (spec: Json, patch: Json) => apply("PodSpec", spec, patch);
const patchMetadata = (metadata: Json, patch: Json) => apply("ObjectMeta", metadata, patch);

describe("objects", () => {
  it.each<[string, Json, Json, Json]>([
    [
      "fields are set, replaced and removed",
      { hostname: "a", subdomain: "b" },
      { hostname: "c", subdomain: null, nodeName: "n" },
      { hostname: "c", nodeName: "n" },
    ],
    ["null for what is not there does nothing", { hostname: "a" }, { subdomain: null }, { hostname: "a" }],
    [
      "they merge field by field",
      { securityContext: { runAsUser: 1, fsGroup: 2 } },
      { securityContext: { runAsUser: 3 } },
      { securityContext: { runAsUser: 3, fsGroup: 2 } },
    ],
    [
      "maps merge by key, also those that are atomic to server-side apply",
      { nodeSelector: { a: "1", b: "2" } },
      { nodeSelector: { b: null, c: "3" } },
      { nodeSelector: { a: "1", c: "3" } },
    ],
    [
      "what is added comes without its nulls",
      {},
      { securityContext: { runAsUser: 1, fsGroup: null, seLinuxOptions: { role: null } } },
      { securityContext: { runAsUser: 1, seLinuxOptions: {} } },
    ],
    [
      "another type of value replaces",
      { hostname: "a", tolerations: [{}] },
      { hostname: { x: null }, tolerations: { y: 1 } },
      { hostname: {}, tolerations: { y: 1 } },
    ],
    [
      "$patch: replace leaves only what the patch has",
      { securityContext: { runAsUser: 1, fsGroup: 2 } },
      { securityContext: { $patch: "replace", runAsUser: 3 } },
      { securityContext: { runAsUser: 3 } },
    ],
    [
      "$patch: delete empties",
      { nodeSelector: { a: "1" }, hostname: "a" },
      { nodeSelector: { $patch: "delete" } },
      { nodeSelector: {}, hostname: "a" },
    ],
    [
      "$patch on what is not there adds nothing",
      {},
      { nodeSelector: { $patch: "delete" }, securityContext: { $patch: "replace", runAsUser: 1 } },
      {},
    ],
    ["$patch in place of another type removes it", { hostname: "a" }, { hostname: { $patch: "delete" } }, {}],
    [
      "fields that the type does not have are kept",
      { hostname: "a" },
      { nope: { a: [1], b: null } },
      { hostname: "a", nope: { a: [1] } },
    ],
  ])("%s", (_, document, patch, expected) => {
    expect(patchSpec(document, patch)).toEqual(expected);
  });

  it("of no schema merge by field, and their lists are replaced", () => {
    const entry = { manager: "m", fieldsV1: { "f:a": { "f:b": {} }, list: [1, 2] } };
    const patch = { fieldsV1: { "f:a": { "f:c": {} }, list: [3] } };
    const expected = { manager: "m", fieldsV1: { "f:a": { "f:b": {}, "f:c": {} }, list: [3] } };
    expect(apply("ManagedFieldsEntry", entry, patch)).toEqual(expected);
  });

  it("in maps merge, too", () => {
    const schema = { properties: { a: { type: "string", title: "A" }, b: { type: "integer" } } };
    const patch = { properties: { a: { title: null }, b: null, c: { type: "object" } } };
    expect(apply("JSONSchemaProps", schema, patch)).toEqual({
      properties: { a: { type: "string" }, c: { type: "object" } },
    });
  });

  it("take the whole document", () => {
    expect(apply("Pod", { kind: "Pod", spec: { hostname: "a" } }, { $patch: "replace", kind: "Pod" })).toEqual({
      kind: "Pod",
    });
    expect(apply("Pod", undefined, { kind: "Pod", spec: { hostname: null } })).toEqual({ kind: "Pod", spec: {} });
  });
});

describe("$retainKeys", () => {
  const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1 } };
  const patchStrategy = (patch: Json) => apply("DeploymentSpec", { strategy, replicas: 1 }, { strategy: patch });

  it("drops the fields that it does not name", () => {
    const patched = patchStrategy({ $retainKeys: ["type"], type: "Recreate" });
    expect(patched).toEqual({ strategy: { type: "Recreate" }, replicas: 1 });
  });

  it("keeps the fields that it names, changed or not", () => {
    expect(patchStrategy({ $retainKeys: ["type", "rollingUpdate"], rollingUpdate: { maxUnavailable: 2 } })).toEqual({
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 2 } },
      replicas: 1,
    });
  });

  it("works on the items of lists: a volume gets another source", () => {
    const volumes = [
      { name: "v", hostPath: { path: "/a" } },
      { name: "w", emptyDir: {} },
    ];
    const patched = patchSpec(
      { volumes },
      { volumes: [{ $retainKeys: ["name", "emptyDir"], name: "v", emptyDir: { medium: "Memory" } }] },
    );
    expect(patched).toEqual({
      volumes: [
        { name: "v", emptyDir: { medium: "Memory" } },
        { name: "w", emptyDir: {} },
      ],
    });
  });

  it("does not end up in an item or object that is new", () => {
    const volume = { $retainKeys: ["name", "emptyDir"], name: "v", emptyDir: {} };
    expect(patchSpec({ volumes: [] }, { volumes: [volume] })).toEqual({ volumes: [{ name: "v", emptyDir: {} }] });
    const added = apply("DeploymentSpec", {}, { strategy: { $retainKeys: ["type"], type: "Recreate" } });
    expect(added).toEqual({ strategy: { type: "Recreate" } });
  });

  it.each([
    [{ $retainKeys: ["type"], type: "Recreate", rollingUpdate: { maxSurge: 1 } }],
    [{ $retainKeys: "type", type: "Recreate" }],
    [{ $retainKeys: null, type: "Recreate" }],
  ])("must be a list that names every field of the patch: %j", (patch) => {
    expect(() => patchStrategy(patch)).toThrow(
      expect.objectContaining({ reason: "BadRequest", message: "invalid patch format of retainKeys" }),
    );
  });

  it("need not name what the patch removes", () => {
    const patched = patchStrategy({ $retainKeys: ["type"], type: "Recreate", rollingUpdate: null });
    expect(patched).toEqual({ strategy: { type: "Recreate" }, replicas: 1 });
  });
});

describe("lists of objects with a merge key", () => {
  const containers = [
    { name: "a", image: "a:1", env: [{ name: "X", value: "1" }] },
    { name: "b", image: "b:1", command: ["b"] },
  ];

  it.each<[string, unknown, unknown]>([
    [
      "items merge by their key",
      [{ name: "b", image: "b:2" }],
      [containers[0], { name: "b", image: "b:2", command: ["b"] }],
    ],
    [
      "new items come first, as they are not among those before the others",
      [{ name: "c" }],
      [{ name: "c" }, ...containers],
    ],
    [
      "lists in items merge",
      [
        {
          name: "a",
          env: [
            { name: "Y", value: "2" },
            { name: "X", value: null },
          ],
        },
      ],
      [{ ...containers[0], env: [{ name: "Y", value: "2" }, { name: "X" }] }, containers[1]],
    ],
    [
      "other lists in items are replaced",
      [{ name: "b", command: ["c", "d"] }],
      [containers[0], { ...containers[1], command: ["c", "d"] }],
    ],
    ["$patch: delete removes the item", [{ name: "a", $patch: "delete" }], [containers[1]]],
    ["$patch: delete of none does nothing", [{ name: "z", $patch: "delete" }], containers],
    [
      "an item can be deleted and added anew",
      [
        { name: "a", $patch: "delete" },
        { name: "a", image: "new" },
      ],
      [{ name: "a", image: "new" }, containers[1]],
    ],
    ["$patch: replace leaves only the patch's items", [{ $patch: "replace" }, { name: "c" }], [{ name: "c" }]],
    ["$patch: replace alone empties the list", [{ $patch: "replace" }], []],
    [
      "an item with $patch: replace is a directive, not an item",
      [{ $patch: "replace", name: "a" }, { name: "b" }],
      [{ name: "b" }],
    ],
    ["an empty patch changes nothing", [], containers],
    ["the patch's order comes first", [{ name: "b" }, { name: "a" }], [containers[1], containers[0]]],
    [
      "a key that comes twice in the patch merges twice",
      [
        { name: "c", image: "1" },
        { name: "c", tty: true },
      ],
      [{ name: "c", image: "1", tty: true }, ...containers],
    ],
    [
      "directives in new items are not kept",
      [{ name: "c", resources: { $patch: "delete" }, "$setElementOrder/env": [] }],
      [{ name: "c" }, ...containers],
    ],
  ])("%s", (_, patch, expected) => {
    expect(patchSpec({ containers }, { containers: patch })).toEqual({ containers: expected });
  });

  it("merge only the first of several items with one key, and delete all", () => {
    const ports = [
      { containerPort: 53, protocol: "TCP" },
      { containerPort: 53, protocol: "UDP" },
      { containerPort: 80 },
    ];
    const patch = (change: Json) => apply("Container", { name: "a", ports }, { ports: [change] });
    expect(patch({ containerPort: 53, name: "dns" })).toEqual({
      name: "a",
      ports: [{ ...ports[0], name: "dns" }, ...ports.slice(1)],
    });
    expect(patch({ containerPort: 53, $patch: "delete" })).toEqual({ name: "a", ports: [{ containerPort: 80 }] });
  });

  it("are added whole where there was none, without directives", () => {
    const patch = {
      containers: [
        { name: "a", image: null },
        { name: "b", $patch: "delete" },
      ],
    };
    expect(patchSpec({}, patch)).toEqual({ containers: [{ name: "a" }] });
  });

  it("are removed by null", () => {
    expect(patchSpec({ volumes: [{ name: "v" }], hostname: "a" }, { volumes: null })).toEqual({ hostname: "a" });
  });

  it.each<[string, unknown, string]>([
    ["without its key", [{ image: "c" }], "map: map[image:c] does not contain declared merge key: name"],
    [
      "that deletes nothing in particular",
      [{ $patch: "delete" }],
      "map: map[$patch:delete] does not contain declared merge key: name",
    ],
    [
      "of another directive",
      [{ name: "a", $patch: "spam" }],
      "unknown patch type: spam in map: map[$patch:spam name:a]",
    ],
    ["that says merge", [{ name: "a", $patch: "merge" }], "merging lists cannot yet be specified in the patch"],
    [
      "of another type",
      [{ name: "c" }, "d"],
      "list element types are not identical: [[map[env:[map[name:X value:1]] image:a:1 name:a] map[command:[b] image:b:1 name:b]] [map[name:c] d]]",
    ],
    ["null", [null], "list element types are not identical"],
  ])("refuse an item %s", (_, patch, message) => {
    expect(() => patchSpec({ containers }, { containers: patch })).toThrow(ApiError);
    expect(() => patchSpec({ containers }, { containers: patch })).toThrow(message);
  });

  it("refuse a list in the list, as upstream with 422", () => {
    expect(() => patchSpec({ containers }, { containers: [[]] })).toThrow(
      expect.objectContaining({
        reason: "Invalid",
        details: { causes: [expect.objectContaining({ message: "lists of lists are not supported" })] },
      }),
    );
  });

  it("refuse items of the object without the key", () => {
    const message = "map: map[] does not contain declared merge key: name";
    expect(() => patchSpec({ imagePullSecrets: [{}] }, { imagePullSecrets: [{ name: "a" }] })).toThrow(message);
  });
});

describe("$patch: merge and others in an object", () => {
  it.each([["merge"], ["spam"], [null], [1]])("%j is refused", (directive) => {
    const shown = directive === null ? "<nil>" : String(directive);
    const message = `unknown patch type: ${shown} in map: map[$patch:${shown} a:1]`;
    const patch = { nodeSelector: { $patch: directive, a: "1" } };
    expect(() => patchSpec({ nodeSelector: { b: "2" } }, patch)).toThrow(
      expect.objectContaining({ reason: "BadRequest", message }),
    );
  });
});

describe("lists of scalars", () => {
  it("merge where the schema says so: what the patch has comes first", () => {
    expect(patchMetadata({ finalizers: ["a/1", "a/2"] }, { finalizers: ["a/3", "a/1"] })).toEqual({
      finalizers: ["a/3", "a/1", "a/2"],
    });
    expect(patchMetadata({ finalizers: ["a/1", "a/2", "a/1"] }, { finalizers: ["a/2"] })).toEqual({
      finalizers: ["a/1", "a/2"],
    });
    expect(patchMetadata({ finalizers: [] }, { finalizers: [] })).toEqual({ finalizers: [] });
  });

  it("are replaced elsewhere", () => {
    expect(apply("Container", { command: ["a", "b"] }, { command: ["c"] })).toEqual({ command: ["c"] });
    expect(apply("Container", { command: ["a", "b"] }, { command: [] })).toEqual({ command: [] });
    expect(patchSpec({ tolerations: [{ key: "a" }, { key: "b" }] }, { tolerations: [{ key: "c" }] })).toEqual({
      tolerations: [{ key: "c" }],
    });
  });

  it("refuse items of several types", () => {
    const message = "list element types are not identical: [[a/1] [1]]";
    expect(() => patchMetadata({ finalizers: ["a/1"] }, { finalizers: [1] })).toThrow(message);
  });
});

describe("$deleteFromPrimitiveList", () => {
  it.each<[string, Json, Json, Json]>([
    [
      "removes what it names",
      { finalizers: ["a", "b", "a"] },
      { "$deleteFromPrimitiveList/finalizers": ["a", "z"] },
      { finalizers: ["b"] },
    ],
    ["does not make a list", { name: "n" }, { "$deleteFromPrimitiveList/finalizers": ["a"] }, { name: "n" }],
    [
      "leaves an empty list",
      { finalizers: ["a"] },
      { "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: [] },
    ],
    [
      "is heeded after the list is merged",
      { finalizers: ["a", "b"] },
      { finalizers: ["c", "a"], "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["c", "b"] },
    ],
    [
      "and with an order",
      { finalizers: ["a", "b", "x"] },
      { "$setElementOrder/finalizers": ["c", "b"], finalizers: ["c"], "$deleteFromPrimitiveList/finalizers": ["a"] },
      { finalizers: ["c", "b", "x"] },
    ],
    ["is null: so is the list", { finalizers: ["a"] }, { "$deleteFromPrimitiveList/finalizers": null }, {}],
  ])("%s", (_, document, patch, expected) => {
    expect(patchMetadata(document, patch)).toEqual(expected);
  });

  it("works on lists that are otherwise replaced", () => {
    expect(apply("Container", { args: ["a", "b"] }, { "$deleteFromPrimitiveList/args": ["a"] })).toEqual({
      args: ["b"],
    });
  });

  it.each([
    [{ "$deleteFromPrimitiveList/finalizers": "a" }],
    [{ $deleteFromPrimitiveList: ["a"] }],
    [{ $deleteFromPrimitiveListOf: ["a"] }],
  ])("%j is refused", (patch) => {
    expect(() => patchMetadata({ finalizers: ["a"] }, patch)).toThrow(
      expect.objectContaining({ reason: "BadRequest", message: "invalid patch format of primitive list" }),
    );
  });
});

describe("safety", () => {
  it("a patch that is no object is refused", () => {
    const message = "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}";
    expect(() => patchSpec({}, [] as unknown as Json)).toThrow(
      expect.objectContaining({ reason: "BadRequest", message }),
    );
  });

  it("prototypes cannot be reached", () => {
    const patch: Json = JSON.parse('{"__proto__":{"x":1},"nodeSelector":{"__proto__":{"x":1},"constructor":"c"}}');
    const patched = patchSpec({ nodeSelector: {} }, patch);
    expect(JSON.stringify(patched)).toBe(
      '{"nodeSelector":{"__proto__":{"x":1},"constructor":"c"},"__proto__":{"x":1}}',
    );
    expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });
});
