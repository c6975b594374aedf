import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../api/object.ts";
import type { ServedAnswer } from "../../host/http-server.ts";
import { configMapKind } from "../kinds/core/config-map.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { encodeVersion } from "../store/stored-version.ts";
import { type AnswerForm, encodeList } from "./encode.ts";
import { acceptedForm } from "./media-type.ts";

const NOW = Date.parse("2026-01-01T00:01:00Z");
const METADATA = { resourceVersion: "7", continue: "next" };

function configMap(name: string): StoredObject {
  const metadata = { name, namespace: "a", resourceVersion: "5", creationTimestamp: "2026-01-01T00:00:00Z" };
  const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: 'ä "quoted"\n' } };
  return { key: `core/configmaps/a/${name}`, revision: 5, object, json: Buffer.from(JSON.stringify(object)) };
}

function textOf({ body }: ServedAnswer): string {
  if (typeof body === "string") return body;
  if (Buffer.isBuffer(body)) return body.toString();
  if (!("length" in body)) throw new Error("a list does not stream");
  return Buffer.concat([...body]).toString();
}

const noPause = async () => undefined;

async function list(accept: string, names: readonly string[]): Promise<string> {
  const items = names.map(configMap);
  const wanted = { form: acceptedForm(accept, { protobuf: true }), includeObject: "Metadata", now: NOW } as const;
  return textOf(await encodeList(configMapKind, { items, metadata: METADATA }, wanted, noPause));
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** The rows of a table. */
async function rowsOf(
  items: readonly StoredObject[],
  { kind = configMapKind, includeObject = "Metadata", now = NOW, pause = noPause }: RowOptions = {},
): Promise<Array<{ cells: unknown[]; object?: unknown }>> {
  const wanted = { form: acceptedForm(TABLE, { protobuf: true }), includeObject, now };
  return JSON.parse(textOf(await encodeList(kind, { items, metadata: METADATA }, wanted, pause))).rows;
}

interface RowOptions {
  kind?: ResourceKind;
  includeObject?: AnswerForm["includeObject"];
  now?: number;
  pause?: () => Promise<undefined>;
}

describe.each([{ names: [] }, { names: ["one"] }, { names: ["one", "two"] }])("a list of $names", ({ names }) => {
  const objects = names.map((name) => configMap(name).object);
  const partial = (version: string) =>
    objects.map(({ metadata }) => ({ kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata }));

  it("holds the objects as they are stored, without their type", async () => {
    const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest);
    const expected = { kind: "ConfigMapList", apiVersion: "v1", metadata: METADATA, items };
    expect(JSON.parse(await list("application/json", names))).toEqual(expected);
    expect(parse(await list("application/yaml", names))).toEqual(expected);
  });

  it("is a table, with a row for each", async () => {
    const table = JSON.parse(await list("application/json;as=Table;v=v1;g=meta.k8s.io", names));
    expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: METADATA });
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(["Name", "Data", "Age"]);
    expect(table.rows).toEqual(partial("v1").map((object, index) => ({ cells: [names[index], 1, "60s"], object })));
    expect(parse(await list("application/yaml;as=Table;v=v1;g=meta.k8s.io", names))).toEqual(table);
  });

  it("is one of their metadata alone", async () => {
    const accept = "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io";
    expect(JSON.parse(await list(accept, names))).toEqual({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1beta1",
      metadata: METADATA,
      items: partial("v1beta1"),
    });
  });
});

it("takes the type off an object without parsing it, unless it stands in another place", async () => {
  const { object, key } = configMap("one");
  const items = [encodeVersion(key, 5, object), configMap("two"), encodeVersion(key, 5, object)];
  const parse = vi.spyOn(JSON, "parse");
  const wanted = { form: acceptedForm("", { protobuf: true }), includeObject: "None", now: NOW } as const;
  const body = textOf(await encodeList(configMapKind, { items, metadata: METADATA }, wanted, noPause));
  const parsed = parse.mock.calls.length;
  parse.mockRestore();
  expect(parsed).toBe(1);
  const { data, metadata } = object;
  const item = { metadata, data };
  expect(JSON.parse(body).items).toEqual([item, { ...item, metadata: { ...metadata, name: "two" } }, item]);
});

it("leaves custom objects their type", async () => {
  const custom = { ...configMapKind, schema: { ...configMapKind.schema, strategicMerge: false } };
  const wanted = { form: acceptedForm("", { protobuf: true }), includeObject: "None", now: NOW } as const;
  const items = [configMap("one")];
  const body = textOf(await encodeList(custom, { items, metadata: METADATA }, wanted, noPause));
  expect(JSON.parse(body).items).toEqual(items.map(({ object }) => object));
});

describe("the rows of a table", () => {
  it("grow older without the object being parsed again", async () => {
    const item = configMap("one");
    expect(await rowsOf([item])).toMatchObject([{ cells: ["one", 1, "60s"] }]);
    const parse = vi.spyOn(JSON, "parse");
    const rows = await rowsOf([item], { now: NOW + 240_000 });
    const parsed = parse.mock.calls.filter(([text]) => text === item.json.toString());
    parse.mockRestore();
    expect(parsed).toEqual([]);
    expect(rows).toMatchObject([{ cells: ["one", 1, "5m"] }]);
  });

  it("are those of the version that is listed, and of the kind as which it is listed", async () => {
    const older = configMap("one");
    const changed: KubeObject = { ...older.object, data: { text: "", more: "" } };
    const newer = { ...older, revision: 6, object: changed, json: Buffer.from(JSON.stringify(changed)) };
    const bare = { ...configMapKind, columns: configMapKind.columns.slice(0, 1) };
    expect(await rowsOf([older, newer])).toMatchObject([{ cells: ["one", 1, "60s"] }, { cells: ["one", 2, "60s"] }]);
    expect(await rowsOf([older], { kind: bare })).toMatchObject([{ cells: ["one"] }]);
    expect(await rowsOf([older])).toMatchObject([{ cells: ["one", 1, "60s"] }]);
  });

  it.each([
    { includeObject: "None", objectOf: () => undefined },
    { includeObject: "Object", objectOf: (object: KubeObject) => object },
    {
      includeObject: "Metadata",
      objectOf: ({ metadata }: KubeObject) => {
        return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
      },
    },
  ] as const)("carry $includeObject of the object, whatever is in it", async ({ includeObject, objectOf }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: "binary" })), async (values) => {
        const items = values.map((text, index) => {
          const { object, ...item } = configMap(`c${index}`);
          const annotations = { [text]: text };
          const whole = {
            apiVersion: "v1",
            data: { text },
            kind: "ConfigMap",
            metadata: { ...object.metadata, annotations },
          };
          return { ...item, object: whole, json: Buffer.from(JSON.stringify(whole)) };
        });
        const expected = items.map(({ object }, index) => ({
          cells: [`c${index}`, 1, "60s"],
          object: objectOf(object),
        }));
        // Twice: what is kept says the same.
        for (let time = 0; time < 2; time++) expect(await rowsOf(items, { includeObject })).toEqual(expected);
      }),
      { numRuns: 30 },
    );
  });

  it("that have to be parsed let others be served, and those that are known do not wait", async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => configMap(`c${index}`));
    let pauses = 0;
    const pause = async () => void pauses++;
    expect(await rowsOf(items, { pause })).toHaveLength(1_000);
    expect(pauses).toBe(3);
    expect(await rowsOf(items, { pause })).toHaveLength(1_000);
    expect(pauses).toBe(3);
  });

  it.each(["application/yaml", "application/vnd.kubernetes.protobuf", TABLE])(
    "of large objects let others be served after each: %s",
    async (accept) => {
      const data = { text: "x".repeat(300_000) };
      const items = ["a", "b", "c"].map((name) => {
        const object: KubeObject = { ...configMap(name).object, data };
        return { ...configMap(name), object, json: Buffer.from(JSON.stringify(object)) };
      });
      let pauses = 0;
      const wanted = { form: acceptedForm(accept, { protobuf: true }), includeObject: "Metadata", now: NOW } as const;
      await encodeList(configMapKind, { items, metadata: METADATA }, wanted, async () => void pauses++);
      expect(pauses).toBe(3);
    },
  );

  it("that show more than is kept are made anew, and are the same", async () => {
    const wide: ResourceKind = {
      ...configMapKind,
      columns: [{ name: "Wide", type: "string", description: "", priority: 0, cell: () => "w".repeat(5_000) }],
    };
    const items = Array.from({ length: 256 }, (_, index) => configMap(`c${index}`));
    let pauses = 0;
    const options = { kind: wide, pause: async () => void pauses++ };
    expect(await rowsOf(items, options)).toEqual(await rowsOf(items, options));
    expect(pauses).toBe(2);
  });
});
