import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { KubeObject } from "../../api/object.ts";
import type { WebAnswer } from "../../host/web-server.ts";
import { CONFIG_MAPS } from "../kinds/core/config-map.ts";
import type { StoredObject } from "../ports/object-store.ts";
import { encodeList } from "./encode.ts";
import { acceptedForm } from "./media-type.ts";

const NOW = Date.parse("2026-01-01T00:01:00Z");
const METADATA = { resourceVersion: "7", continue: "next" };

function configMap(name: string): StoredObject {
  const metadata = { name, namespace: "a", resourceVersion: "5", creationTimestamp: "2026-01-01T00:00:00Z" };
  const object: KubeObject = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: 'ä "quoted"\n' } };
  return { key: `core/configmaps/a/${name}`, revision: 5, object, json: Buffer.from(JSON.stringify(object)) };
}

function textOf({ body }: WebAnswer): string {
  if (typeof body === "string") return body;
  if (Buffer.isBuffer(body)) return body.toString();
  if ("stream" in body) throw new Error("a list does not stream");
  return Buffer.concat([...body]).toString();
}

function list(accept: string, names: readonly string[]): string {
  const items = names.map(configMap);
  const wanted = { form: acceptedForm(accept, { protobuf: true }), includeObject: "Metadata", now: NOW } as const;
  return textOf(encodeList(CONFIG_MAPS, { items, metadata: METADATA }, wanted));
}

describe.each([{ names: [] }, { names: ["one"] }, { names: ["one", "two"] }])("a list of $names", ({ names }) => {
  const objects = names.map((name) => configMap(name).object);
  const partial = (version: string) =>
    objects.map(({ metadata }) => ({ kind: "PartialObjectMetadata", apiVersion: `meta.k8s.io/${version}`, metadata }));

  it("holds the objects as they are stored", () => {
    const expected = { kind: "ConfigMapList", apiVersion: "v1", metadata: METADATA, items: objects };
    expect(JSON.parse(list("application/json", names))).toEqual(expected);
    expect(parse(list("application/yaml", names))).toEqual(expected);
  });

  it("is a table, with a row for each", () => {
    const table = JSON.parse(list("application/json;as=Table;v=v1;g=meta.k8s.io", names));
    expect(table).toMatchObject({ kind: "Table", apiVersion: "meta.k8s.io/v1", metadata: METADATA });
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual(["Name", "Data", "Age"]);
    expect(table.rows).toEqual(partial("v1").map((object, index) => ({ cells: [names[index], 1, "60s"], object })));
    expect(parse(list("application/yaml;as=Table;v=v1;g=meta.k8s.io", names))).toEqual(table);
  });

  it("is one of their metadata alone", () => {
    const accept = "application/json;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io";
    expect(JSON.parse(list(accept, names))).toEqual({
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1beta1",
      metadata: METADATA,
      items: partial("v1beta1"),
    });
  });
});
