import { readFileSync } from "node:fs";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { describe, expect, test } from "vitest";
import { DEFINITION_NAMES, SERVED_SCHEMA } from "../../api/gen/served-schema.ts";
import { isRecord } from "../../api/object.ts";
import { TABLE } from "./__fixtures__/api-table.ts";
import { listGroupVersions } from "./api-table.ts";
import { OPENAPI_V2, referencesOf } from "./openapi-dialect.ts";
import { describeOpenApiV2 } from "./openapi-v2.ts";
import { encodeOpenApiV2 } from "./openapi-v2-protobuf.ts";
import { describeOpenApiV3 } from "./openapi-v3.ts";
import { servedDefinition } from "./served-definitions.ts";

const UPSTREAM: { definitions: Record<string, unknown>; paths: Record<string, Record<string, unknown>> } = JSON.parse(
  readFileSync("schema/openapi-1.36-structure.json", "utf8"),
);

/** The value at a path of names. */
function at(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((found, name) => (isRecord(found) ? found[name] : undefined), value);
}

const NAMES = "x-kubernetes-group-version-kind";

/** Without what upstream's structure file leaves out, and what is said about kinds elsewhere. */
function bare(value: unknown, isNames = false): unknown {
  if (Array.isArray(value)) return value.map((item) => bare(item));
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(
    ([name]) => isNames || (name !== "description" && name !== NAMES && name !== "x-kubernetes-unions"),
  );
  return Object.fromEntries(
    entries.map(([name, item]) => {
      // The order of what is required says nothing.
      const isList = name === "required" && Array.isArray(item);
      return [name, isList ? item.toSorted() : bare(item, name === "properties")];
    }),
  );
}

describe("built-in definitions", () => {
  // What the tables write as any object is a definition of its own upstream.
  const raw = JSON.stringify(bare(UPSTREAM.definitions)).replaceAll(
    /\{"\$ref":"#\/definitions\/io\.k8s\.(apimachinery\.pkg\.runtime\.RawExtension|apimachinery\.pkg\.apis\.meta\.v1\.FieldsV1|apiextensions-apiserver\.pkg\.apis\.apiextensions\.v1\.CustomResourceSubresourceStatus)"\}/g,
    '{"type":"object"}',
  );
  const definitions: Record<string, unknown> = JSON.parse(raw);
  const types = Object.keys(SERVED_SCHEMA).filter((type) => type !== "JSONSchemaProps");

  test.each(types)("%s is as kube-apiserver 1.36 publishes it", (type) => {
    const definition = DEFINITION_NAMES[type] ?? "";
    expect(bare(servedDefinition(OPENAPI_V2, definition))).toEqual(definitions[definition]);
  });
});

describe("OpenAPI v2", () => {
  const document = describeOpenApiV2(TABLE);

  test("has every definition that is referred to", () => {
    const missing = referencesOf(document).filter((name) => !Object.hasOwn(document.definitions, name));
    expect(missing).toEqual([]);
  });

  test("has upstream's paths, methods and actions for the kinds of the table", () => {
    for (const [path, item] of Object.entries(document.paths)) {
      if (!/^\/api\/v1|^\/apis\/apps/.test(path)) continue;
      const upstream = UPSTREAM.paths[path];
      expect(Object.keys(item).filter((method) => !Object.hasOwn(upstream ?? {}, method))).toEqual([]);
      for (const [method, operation] of Object.entries(item)) {
        expect([path, operation["x-kubernetes-action"], operation[NAMES]]).toEqual([
          path,
          at(upstream, method, "x-kubernetes-action"),
          at(upstream, method, NAMES),
        ]);
      }
    }
  });

  test("says nothing where clients would take what it says too literally", () => {
    const spec = at(document.definitions, "com.example.a.v1.Widget", "properties", "spec", "properties");
    expect(spec).toMatchObject({
      size: { type: "integer", minimum: 1 },
      maybe: {},
      port: { "x-kubernetes-int-or-string": true },
      open: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
      map: { type: "object", additionalProperties: { type: "array", items: { type: "string" } } },
    });
    expect(at(spec, "open", "properties")).toBeUndefined();
    expect(at(spec, "maybe", "type")).toBeUndefined();
    expect(at(spec, "port", "anyOf")).toBeUndefined();
    expect(at(spec, "object")).toMatchObject({
      required: ["apiVersion", "kind"],
      properties: { data: { type: "string" } },
    });
  });

  test("is read back from its protobuf form: version, paths, definitions and their kinds", () => {
    const decoded = readMessage(encodeOpenApiV2(document));
    expect(textOf(decoded, 1)).toBe("2.0");
    const names = (message: Message, field: number) =>
      (message.get(field) ?? []).map((entry) => textOf(readMessage(entry), 1));
    const [paths, definitions] = [8, 9].map((field) => readMessage(decoded.get(field)?.[0] ?? new Uint8Array()));
    expect(paths && names(paths, 2)).toEqual(Object.keys(document.paths));
    expect(definitions && names(definitions, 1)).toEqual(Object.keys(document.definitions));
    const pod = definitions?.get(1)?.find((entry) => textOf(readMessage(entry), 1) === "io.k8s.api.core.v1.Pod");
    const schema = readMessage(readMessage(pod ?? new Uint8Array()).get(2)?.[0] ?? new Uint8Array());
    const extension = readMessage(schema.get(31)?.[0] ?? new Uint8Array());
    expect(textOf(extension, 1)).toBe(NAMES);
    const yaml = textOf(readMessage(extension.get(2)?.[0] ?? new Uint8Array()), 2);
    expect(JSON.parse(yaml)).toEqual([{ group: "", kind: "Pod", version: "v1" }]);
  });
});

type Message = ReadonlyMap<number, Uint8Array[]>;

/** The length-delimited fields of a protobuf message. */
function readMessage(bytes: Uint8Array): Message {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === 2) fields.set(field, [...(fields.get(field) ?? []), reader.bytes()]);
    else reader.skip(type);
  }
  return fields;
}

const textOf = (message: Message, field: number) => Buffer.from(message.get(field)?.[0] ?? []).toString();

describe("OpenAPI v3", () => {
  const documents = listGroupVersions(TABLE.kinds).map((version) => describeOpenApiV3(TABLE, version));
  const [core, apps, custom] = documents;

  test("has every definition that a document refers to in that document", () => {
    for (const document of documents) {
      const schemas = at(document, "components", "schemas");
      expect(referencesOf(document).filter((name) => at(schemas, name) === undefined)).toEqual([]);
    }
  });

  test("tells kubectl that patches take dryRun and fieldValidation", () => {
    const patch = at(core, "paths", "/api/v1/namespaces/{namespace}/pods/{name}", "patch");
    expect(at(patch, NAMES)).toEqual({ group: "", version: "v1", kind: "Pod" });
    const parameters = at(patch, "parameters");
    const names = Array.isArray(parameters) ? parameters.map((parameter) => at(parameter, "name")) : [];
    expect(names).toEqual(["dryRun", "fieldManager", "fieldValidation", "force"]);
  });

  test.each([
    ["/api/v1/pods", "get", "listCoreV1PodForAllNamespaces"],
    ["/api/v1/namespaces/{namespace}/pods", "get", "listCoreV1NamespacedPod"],
    ["/api/v1/namespaces/{namespace}/pods", "post", "createCoreV1NamespacedPod"],
    ["/api/v1/namespaces/{namespace}/pods", "delete", "deleteCoreV1CollectionNamespacedPod"],
    ["/api/v1/namespaces/{namespace}/pods/{name}", "get", "readCoreV1NamespacedPod"],
    ["/api/v1/namespaces/{namespace}/pods/{name}", "put", "replaceCoreV1NamespacedPod"],
    ["/api/v1/namespaces/{namespace}/pods/{name}/status", "patch", "patchCoreV1NamespacedPodStatus"],
    ["/api/v1/namespaces/{namespace}/pods/{name}/exec", "get", "connectCoreV1GetNamespacedPodExec"],
    ["/api/v1/namespaces/{name}", "delete", "deleteCoreV1Namespace"],
  ])("names %s %s as upstream does", (path, method, id) => {
    expect(at(core, "paths", path, method, "operationId")).toBe(id);
  });

  test("offers strategic merge patches for built-in kinds only", () => {
    const types = (document: unknown, path: string) => {
      const content = at(document, "paths", path, "patch", "requestBody", "content");
      return isRecord(content) ? Object.keys(content) : [];
    };
    const strategic = "application/strategic-merge-patch+json";
    expect(types(apps, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}")).toContain(strategic);
    expect(types(custom, "/apis/a.example.com/v1/widgets/{name}")).toEqual([
      "application/apply-patch+yaml",
      "application/json-patch+json",
      "application/merge-patch+json",
    ]);
  });

  test("shows a custom kind as its CRD has it, with what every object has", () => {
    const widget = at(custom, "components", "schemas", "com.example.a.v1.Widget");
    expect(widget).toMatchObject({
      description: "A widget.",
      required: ["spec"],
      [NAMES]: [{ group: "a.example.com", kind: "Widget", version: "v1" }],
      properties: {
        apiVersion: { type: "string", description: expect.any(String) },
        metadata: { allOf: [{ $ref: "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" }] },
        spec: { properties: { size: { type: "integer", minimum: 1, default: 3 }, maybe: { nullable: true } } },
      },
    });
    expect(at(custom, "components", "schemas", "com.example.a.v1.WidgetList", "properties", "items", "items")).toEqual({
      $ref: "#/components/schemas/com.example.a.v1.Widget",
    });
  });

  test("describes the fields that people ask about", () => {
    const containers = at(core, "components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties", "containers");
    expect(at(containers, "description")).toMatch(/^The containers of the pod/);
  });
});
