import { stringify } from "yaml";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import type { WebAnswer } from "../../host/web-server.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { passingViewOf, viewOf } from "../registry/object-view.ts";
import type { Listed } from "../registry/read.ts";
import type { AcceptedForm } from "./media-type.ts";
import { type IncludeObject, partialOf, rowOf, tableHead, tableOf } from "./table.ts";

/** How the caller wants to see what is returned. */
export interface AnswerForm {
  readonly form: AcceptedForm;
  /** Of tables: what of the object each row carries. */
  readonly includeObject: IncludeObject;
  /** For ages in tables, ms since the epoch. */
  readonly now: number;
}

/** Any value as the answer's body. */
export function encodeValue(status: number, value: unknown, { encoding }: AcceptedForm): WebAnswer {
  if (encoding === "yaml") {
    return { status, headers: { "content-type": "application/yaml" }, body: stringify(value, { lineWidth: 0 }) };
  }
  return { status, headers: { "content-type": "application/json" }, body: `${JSON.stringify(value)}\n` };
}

/** One object of a kind, in the form that is wanted. */
export function encodeObject(status: number, kind: ResourceKind, object: KubeObject, wanted: AnswerForm): WebAnswer {
  return encodeValue(status, shapeObject(kind, object, wanted), wanted.form);
}

/** The same, without encoding again what lies encoded in the store. */
export function encodeStored(status: number, kind: ResourceKind, stored: StoredObject, wanted: AnswerForm): WebAnswer {
  const { form } = wanted;
  if (!isAsStored(kind, form)) return encodeObject(status, kind, viewOf(kind, stored), wanted);
  return { status, headers: { "content-type": "application/json" }, body: stored.json };
}

/** True when the answer is made of what the store holds, byte for byte. */
export function isAsStored(kind: ResourceKind, form: AcceptedForm): boolean {
  return form.encoding === "json" && form.as === undefined && kind.storedAs === undefined;
}

/** The object as itself, a table of one row, or its metadata. */
function shapeObject(kind: ResourceKind, object: KubeObject, wanted: AnswerForm): unknown {
  switch (wanted.form.as) {
    case "Table": {
      const { resourceVersion = "" } = object.metadata;
      return tableOf(kind, [object], { ...wanted, version: wanted.form.version, metadata: { resourceVersion } });
    }
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList":
      return partialOf(object, wanted.form.version);
    case undefined:
      return object;
  }
}

/** A page of a list. */
export function encodeList(kind: ResourceKind, { items, metadata }: Listed, wanted: AnswerForm): WebAnswer {
  const shape = listShape(kind, metadata, wanted);
  if (wanted.form.encoding === "yaml") {
    const shown = items.map((item) => shape.show(passingViewOf(kind, item)));
    return encodeValue(200, { ...shape.head, [shape.field]: shown }, wanted.form);
  }
  const encode = isAsStored(kind, wanted.form)
    ? ({ json }: StoredObject) => json
    : (item: StoredObject) => Buffer.from(JSON.stringify(shape.show(passingViewOf(kind, item))));
  const chunks: Buffer[] = [Buffer.from(`${JSON.stringify(shape.head).slice(0, -1)},"${shape.field}":[`)];
  for (const [index, item] of items.entries()) {
    if (index > 0) chunks.push(COMMA);
    chunks.push(encode(item));
  }
  chunks.push(LIST_END);
  return { status: 200, headers: { "content-type": "application/json" }, body: chunks };
}

const COMMA = Buffer.from(",");
const LIST_END = Buffer.from("]}\n");

/** How a list is shown: one item after the other, so that the parsed form of one is garbage before the next. */
interface ListShape {
  /** Everything but the items. */
  readonly head: object;
  readonly field: "items" | "rows";
  show(object: KubeObject): unknown;
}

function listShape(kind: ResourceKind, metadata: Listed["metadata"], wanted: AnswerForm): ListShape {
  const { as, version } = wanted.form;
  switch (as) {
    case "Table": {
      const options = { ...wanted, version, metadata };
      return { head: tableHead(kind, options), field: "rows", show: (object) => rowOf(kind, object, options) };
    }
    case "PartialObjectMetadata":
    case "PartialObjectMetadataList": {
      const head = { kind: "PartialObjectMetadataList", apiVersion: `meta.k8s.io/${version}`, metadata };
      return { head, field: "items", show: (object) => partialOf(object, version) };
    }
    case undefined: {
      const head = { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata };
      return { head, field: "items", show: (object) => object };
    }
  }
}
