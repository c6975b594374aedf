import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import { isKubeObject, type KubeObject } from "../../api/object.ts";
import { cellOf } from "../ports/resource-kind.ts";
import { CRON_TAB_SCHEMA, cronTabManifest, establishCrd, NOW } from "./__fixtures__/cron-tab.ts";
import { markCrdDeleted } from "./crd-status.ts";
import { customKinds, customSchemas, upgradeStored } from "./custom-kinds.ts";

const [cronTabs] = customKinds(establishCrd(cronTabManifest({ subresources: { status: {} } })));
if (!cronTabs) throw new Error("no row");
const { schema, strategy } = cronTabs;

function cronTab(spec: unknown, rest: Record<string, unknown> = {}) {
  return { apiVersion: "stable.example.com/v1", kind: "CronTab", metadata: { name: "a" }, spec, ...rest };
}

/** What a create makes of it before it is validated. */
function take(value: unknown): KubeObject {
  const decoded = schema.decode(value).value;
  if (!isKubeObject(decoded)) throw new Error("not decoded");
  return strategy.default?.(decoded) ?? decoded;
}

const problemsOf = (spec: unknown) => strategy.validate?.(take(cronTab(spec))).map(formatFieldError);

describe("the row of a custom kind", () => {
  test("says what discovery and the registry need", () => {
    expect(cronTabs).toMatchObject({
      group: "stable.example.com",
      version: "v1",
      kind: "CronTab",
      listKind: "CronTabList",
      plural: "crontabs",
      singular: "crontab",
      shortNames: ["ct"],
      categories: ["all"],
      namespaced: true,
      subresources: [{ name: "status", kind: "CronTab" }],
    });
    expect(schema).toMatchObject({ strategicMerge: false, definition: "com.example.stable.v1.CronTab" });
  });

  test("is not there before the names are accepted", () => {
    const crd = establishCrd(cronTabManifest());
    expect(customKinds({ ...crd, status: {} })).toEqual([]);
  });

  test("takes no new objects while the CRD is being deleted", () => {
    const [row] = customKinds(markCrdDeleted(establishCrd(cronTabManifest()), NOW));
    expect(row?.verbs).toEqual(["delete", "deletecollection", "get", "list", "patch", "update", "watch"]);
  });

  test("gives the schema of each version by its definition", () => {
    const schemas = customSchemas(establishCrd(cronTabManifest()));
    expect(schemas).toEqual({ "com.example.stable.v1.CronTab": CRON_TAB_SCHEMA });
  });
});

describe("decoding", () => {
  test("drops unknown fields with a warning each, and keeps them where the schema says so", () => {
    const { value, warnings } = schema.decode({
      ...cronTab({
        cronSpec: "* * * * *",
        bogus: 1,
        steps: [{ name: "a", extra: true }],
        template: { any: { thing: [1] } },
        object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x", odd: 1 }, data: { a: "b" } },
      }),
      metadata: { name: "a", colour: "red" },
      top: 1,
    });
    expect(warnings.map(({ message }) => message)).toEqual([
      'unknown field "metadata.colour"',
      'unknown field "spec.bogus"',
      'unknown field "spec.steps[0].extra"',
      'unknown field "spec.object.metadata.odd"',
      'unknown field "top"',
    ]);
    expect(value).toEqual(
      cronTab({
        cronSpec: "* * * * *",
        steps: [{ name: "a" }],
        template: { any: { thing: [1] } },
        object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { a: "b" } },
      }),
    );
  });

  test.each([
    ["no object", [], "expected object"],
    ["a kind that is no text", { apiVersion: "v1", kind: 1 }, "kind: expected string"],
    [
      "labels that are no texts",
      { ...cronTab({}), metadata: { labels: { a: 1 } } },
      "metadata.labels[a]: expected string, got integer 1",
    ],
  ])("refuses %s", (_, value, problem) => {
    expect(schema.decode(value).errors.map(formatFieldError)).toEqual([problem]);
  });

  test("refuses what is nested without end", () => {
    let deep: unknown = {};
    for (let level = 0; level < 5_000; level++) deep = { template: deep };
    const { errors } = schema.decode(cronTab({ template: deep }));
    expect(errors[0]?.message).toBe("more than 200 levels");
  });
});

describe("defaulting", () => {
  test("fills what is absent, at every depth, and takes null for absent where none is allowed", () => {
    const { spec } = take(cronTab({ cronSpec: null, image: null, suspend: null, steps: [{ name: "a" }] }));
    expect(spec).toEqual({ image: "busybox", replicas: 1, suspend: null, steps: [{ name: "a", weight: 1 }] });
  });

  test("does not make the objects that defaults would be in", () => {
    expect(take({ ...cronTab({}), spec: undefined })["spec"]).toBeUndefined();
  });

  test("pruning and defaulting once is as good as twice, and changes nothing that came in", () => {
    fc.assert(
      fc.property(
        fc.object({ key: fc.constantFrom(...Object.keys(CRON_TAB_SCHEMA.properties.spec.properties), "x") }),
        (spec) => {
          const input = cronTab(JSON.parse(JSON.stringify(spec)));
          const before = structuredClone(input);
          const once = take(input);
          expect(input).toEqual(before);
          expect(schema.decode(once)).toMatchObject({ value: once, warnings: [] });
          expect(take(once)).toEqual(once);
        },
      ),
    );
  });
});

describe("validation", () => {
  const cronSpec = "* * * * */5";
  test.each<[string, Record<string, unknown>, string[]]>([
    [
      "is content",
      { cronSpec, port: "http", suspend: null, labels: { a: "b" }, hosts: ["a.example"], color: "red" },
      [],
    ],
    ["a required field", {}, ["spec.cronSpec: Required value"]],
    [
      "a wrong type",
      { cronSpec, replicas: "three" },
      ['spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"'],
    ],
    [
      "a fraction for an integer",
      { cronSpec, replicas: 1.5 },
      [
        'spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number"',
        '<nil>: Invalid value: "": Checked value must be of type integer (default format) in spec.replicas',
      ],
    ],
    [
      "a pattern",
      { cronSpec: "often" },
      [
        `spec.cronSpec: Invalid value: "often": spec.cronSpec in body should match '${CRON_TAB_SCHEMA.properties.spec.properties.cronSpec.pattern}'`,
      ],
    ],
    ["a text too long", { cronSpec, image: "x".repeat(21) }, ["spec.image: Too long: may not be more than 20 bytes"]],
    [
      "a number too small",
      { cronSpec, replicas: 0 },
      ["spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to 1"],
    ],
    [
      "a number too big",
      { cronSpec, replicas: 11 },
      ["spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"],
    ],
    [
      "a value that is not among the known ones",
      { cronSpec, color: "blue" },
      ['spec.color: Unsupported value: "blue": supported values: "red", "green"'],
    ],
    [
      "neither integer nor string",
      { cronSpec, port: true },
      ['spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
    ],
    [
      "a map's value",
      { cronSpec, labels: { a: 1 } },
      ['spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"'],
    ],
    [
      "a format",
      { cronSpec, hosts: ["a b"] },
      ['spec.hosts[0]: Invalid value: "a b": spec.hosts[0] in body must be of type hostname: "a b"'],
    ],
    ["a set's duplicate, once", { cronSpec, hosts: ["a", "b", "a", "a"] }, ['spec.hosts[2]: Duplicate value: "a"']],
    [
      "a map list's duplicate, by its keys",
      { cronSpec, steps: [{ name: "a" }, { name: "a", weight: 2 }] },
      ['spec.steps[1]: Duplicate value: {"name":"a"}'],
    ],
    [
      "an object without identity",
      { cronSpec, object: { kind: "config map" } },
      [
        "spec.object.apiVersion: Required value",
        "spec.object.kind: Invalid value: \"config map\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      ],
    ],
  ])("finds %s", (_, spec, expected) => {
    expect(problemsOf(spec)).toEqual(expected);
  });

  test("of a missing spec names the field", () => {
    const { spec: _spec, ...object } = cronTab({});
    expect(strategy.validate?.(object).map(formatFieldError)).toEqual(["spec: Required value"]);
  });
});

describe("subresources", () => {
  test("a status cannot be created where it is a subresource", () => {
    const object = cronTab({}, { status: { replicas: 3 } });
    expect(strategy.prepareCreate?.(object)["status"]).toBeUndefined();
    const [plain] = customKinds(establishCrd(cronTabManifest()));
    expect(plain?.strategy.prepareCreate).toBeUndefined();
  });

  test("a new object has the default status of its schema", () => {
    const conditions = [{ type: "Ready", status: "Unknown" }];
    const status = { type: "object", default: { conditions }, "x-kubernetes-preserve-unknown-fields": true };
    const openAPIV3Schema = { type: "object", properties: { status } };
    const [kind] = customKinds(
      establishCrd(cronTabManifest({ subresources: { status: {} }, schema: { openAPIV3Schema } })),
    );
    const sent = cronTab({}, { status: { forged: true } });
    expect(kind?.strategy.prepareCreate?.(sent)["status"]).toEqual({ conditions });
  });

  const scale = {
    specReplicasPath: ".spec.replicas",
    statusReplicasPath: ".status.replicas",
    labelSelectorPath: ".status.selector",
  };
  const scaled = establishCrd(cronTabManifest({ subresources: { scale } }));

  test("the scale subresource says where its numbers are", () => {
    const [row] = customKinds(scaled);
    const found = row?.subresources.find(({ name }) => name === "scale");
    expect(found?.scale).toEqual({
      specReplicas: ["spec", "replicas"],
      statusReplicas: ["status", "replicas"],
      selector: ["status", "selector"],
    });
  });

  test("a negative number of replicas is refused", () => {
    const [row] = customKinds(scaled);
    const errors = row?.strategy.validate?.(
      cronTab({ cronSpec: "* * * * *", replicas: 1 }, { status: { replicas: -1 } }),
    );
    expect(errors?.map(formatFieldError)).toEqual([
      ".status.replicas: Invalid value: -1: should be a non-negative integer",
    ]);
  });
});

describe("several versions", () => {
  const old = {
    type: "object",
    properties: { spec: { type: "object", properties: { image: { type: "string", default: "old" } } } },
  };
  const crd = establishCrd(
    cronTabManifest(
      {},
      {
        versions: [
          { name: "v1beta1", served: true, storage: false, deprecated: true, schema: { openAPIV3Schema: old } },
          { name: "v1", served: false, storage: true, schema: { openAPIV3Schema: CRON_TAB_SCHEMA } },
          { name: "v0", served: false, storage: false, schema: { openAPIV3Schema: old } },
        ],
      },
    ),
  );
  const [beta, storage, ...more] = customKinds(crd);

  test("have a row each while served, and the storage version always", () => {
    expect([beta?.version, storage?.version, more]).toEqual(["v1beta1", "v1", []]);
    expect(storage).toMatchObject({ verbs: [], subresources: [] });
    expect(storage?.storedAs).toBeUndefined();
  });

  test("read the same objects under their own name, with what their schema knows", () => {
    const stored = cronTab({ cronSpec: "* * * * *" });
    expect(beta?.storedAs?.fromStored(stored)).toEqual({
      ...stored,
      apiVersion: "stable.example.com/v1beta1",
      spec: {},
    });
  });

  test("are stored with what the storage version knows, and its defaults", () => {
    const sent = cronTab({ image: "own", gone: 1 });
    expect(beta?.storedAs?.toStored({ ...sent, apiVersion: "stable.example.com/v1beta1" })).toEqual(
      cronTab({ image: "own", replicas: 1 }),
    );
  });

  test.each([
    [{}, "stable.example.com/v1beta1 CronTab is deprecated"],
    [{ served: true }, "stable.example.com/v1beta1 CronTab is deprecated; use stable.example.com/v1 CronTab"],
    [{ served: true, deprecated: true }, "stable.example.com/v1beta1 CronTab is deprecated"],
  ])("say where one is deprecated, beside a v1 that is %j", (newer, expected) => {
    const versions = crd.spec.versions.map((version) => (version.name === "v1" ? { ...version, ...newer } : version));
    const [row] = customKinds({ ...crd, spec: { ...crd.spec, versions } });
    expect(row?.strategy.deprecation).toBe(expected);
  });

  test("bring stored objects to the storage version, once", () => {
    const before = { ...cronTab({ cronSpec: "* * * * *", gone: 1 }), apiVersion: "stable.example.com/v0" };
    const after = upgradeStored(crd, before);
    expect(after).toEqual(cronTab({ cronSpec: "* * * * *", image: "busybox", replicas: 1 }));
    expect(after && upgradeStored(crd, after)).toBeUndefined();
  });
});

test.each([
  [["a.example.com/b", "foregroundDeletion"], []],
  [
    ["a.example.com", "plain"],
    [
      'metadata.finalizers: "a.example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers',
      'metadata.finalizers: "plain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ],
  ],
])("finalizers %j are warned of when they are new", (finalizers, expected) => {
  const [row] = customKinds(establishCrd(cronTabManifest()));
  const object = cronTab({});
  const held = { ...object, metadata: { ...object.metadata, finalizers } };
  expect(row?.strategy.warnings?.(held, object)).toEqual(expected);
  expect(row?.strategy.warnings?.(held, held)).toEqual([]);
});

describe("columns", () => {
  const columns = [
    { name: "Spec", type: "string", jsonPath: ".spec.cronSpec" },
    { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", description: "How many." },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Since", type: "date", jsonPath: ".status.since", priority: 1 },
    { name: "Labels", type: "string", jsonPath: ".spec.labels" },
    { name: "Off", type: "boolean", jsonPath: ".spec.suspend" },
  ];
  const [row] = customKinds(establishCrd(cronTabManifest({ additionalPrinterColumns: columns })));

  test("show what their paths lead to", () => {
    const object = cronTab(
      { cronSpec: "x", replicas: 3, labels: { a: "b" }, suspend: false },
      {
        status: {
          since: "2026-01-02T03:03:05Z",
          conditions: [
            { type: "A", status: "False" },
            { type: "Ready", status: "True" },
          ],
        },
      },
    );
    expect(row?.columns.map((column) => [column.name, cellOf(column, object, NOW)])).toEqual([
      ["Name", "a"],
      ["Spec", "x"],
      ["Replicas", 3],
      ["Ready", "True"],
      ["Since", "60s"],
      ["Labels", '{"a":"b"}'],
      ["Off", false],
    ]);
    expect(row?.columns[1]?.description).toBe("Custom resource definition column (in JSONPath format): .spec.cronSpec");
  });

  test("show nothing where there is nothing", () => {
    expect(row?.columns.slice(1).map((column) => cellOf(column, cronTab({}), NOW))).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  test("are name and age when the CRD has none", () => {
    expect(cronTabs.columns.map(({ name }) => name)).toEqual(["Name", "Age"]);
  });
});

test("selectable fields are read as text", () => {
  const [row] = customKinds(establishCrd(cronTabManifest({ selectableFields: [{ jsonPath: ".spec.replicas" }] })));
  const field = row?.strategy.fields?.["spec.replicas"];
  expect([field?.(cronTab({ replicas: 3 })), field?.(cronTab({}))]).toEqual(["3", ""]);
});

test("server-side apply is told what identifies the items of lists", () => {
  const spec = schema.node.kind === "struct" ? schema.node.field("spec") : undefined;
  const field = (name: string) => (spec?.kind === "struct" ? spec.field(name) : undefined);
  expect(field("steps")).toMatchObject({ kind: "list", list: "map", keys: ["name"] });
  expect(field("hosts")).toMatchObject({ kind: "list", list: "set" });
  expect(field("labels")).toMatchObject({ kind: "map", atomic: false, values: { kind: "scalar" } });
  expect(field("port")).toEqual({ kind: "scalar" });
  expect(field("template")).toEqual({ kind: "map", atomic: false, values: { kind: "untyped" } });
  expect(field("nothing")).toBeUndefined();
});
