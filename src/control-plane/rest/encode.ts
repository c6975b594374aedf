import { stringify } from "yaml";
import { ApiError } from "../../api/api-error.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import {
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufList,
  type ProtobufObject,
} from "../../api/protobuf/encode-protobuf.ts";
import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";
import type { WebAnswer } from "../../host/web-server.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { passingViewOf, viewOf } from "../registry/object-view.ts";
import type { Listed } from "../registry/read.ts";
import type { AcceptedForm } from "./media-type.ts";
import { type StoredText, storedTextOf } from "./stored-text.ts";
import { cellsOf, type IncludeObject, partialOf, rowOf, tableHead, tableOf } from "./table.ts";

/** How the caller wants to see what is returned. */
export interface AnswerForm {
  readonly form: AcceptedForm;
  /** Of tables: what of the object each row carries. */
  readonly includeObject: IncludeObject;
  /** For ages in tables, ms since the epoch. */
  readonly now: number;
}

/** An object as the answer's body: of a kind with a form in protobuf, where that is wanted. */
export function encodeValue(status: number, value: object, { encoding }: AcceptedForm): WebAnswer {
  switch (encoding) {
    case "json":
      return { status, headers: JSON_HEADERS, body: `${JSON.stringify(value)}\n` };
    case "yaml":
      return { status, headers: { "content-type": "application/yaml" }, body: stringify(value, { lineWidth: 0 }) };
    case "protobuf":
      return { status, headers: PROTOBUF_HEADERS, body: encodeProtobuf({ ...value }) };
  }
}

const JSON_HEADERS = { "content-type": "application/json" };
const PROTOBUF_HEADERS = { "content-type": PROTOBUF_TYPE };

/** One object of a kind, in the form that is wanted. */
export function encodeObject(status: number, kind: ResourceKind, object: KubeObject, wanted: AnswerForm): WebAnswer {
  return encodeValue(status, shapeObject(kind, object, wanted), wanted.form);
}

/** The same, without encoding again what lies encoded in the store. */
export function encodeStored(status: number, kind: ResourceKind, stored: StoredObject, wanted: AnswerForm): WebAnswer {
  const { form } = wanted;
  if (!isAsStored(kind, form)) return encodeObject(status, kind, viewOf(kind, stored), wanted);
  return { status, headers: JSON_HEADERS, body: stored.json };
}

/** True when the answer is made of what the store holds, byte for byte. */
export function isAsStored(kind: ResourceKind, form: AcceptedForm): boolean {
  return form.encoding === "json" && form.as === undefined && kind.storedAs === undefined;
}

/** The object as itself, a table of one row, or its metadata. */
function shapeObject(kind: ResourceKind, object: KubeObject, wanted: AnswerForm): ProtobufObject {
  switch (wanted.form.as) {
    case "Table": {
      const { resourceVersion = "" } = object.metadata;
      return tableOf(kind, [object], { ...wanted, version: wanted.form.version, metadata: { resourceVersion } });
    }
    case "PartialObjectMetadata":
      return partialOf(object, wanted.form.version);
    case "PartialObjectMetadataList":
      throw misshapen("PartialObjectMetadataList", `is not a list (${kind.kind})`);
    case undefined:
      return object;
  }
}

function misshapen(requested: string, but: string): ApiError {
  return new ApiError("NotAcceptable", `you requested ${requested}, but the requested object ${but}`);
}

/** A page of a list. */
export function encodeList(kind: ResourceKind, { items, metadata }: Listed, wanted: AnswerForm): WebAnswer {
  const shape = listShape(kind, metadata, wanted);
  if (wanted.form.encoding === "yaml") {
    const shown = items.map((item) => shape.show(passingViewOf(kind, item)));
    return encodeValue(200, { ...shape.head, [shape.field]: shown }, wanted.form);
  }
  if (wanted.form.encoding === "protobuf") {
    const encoded = items.map((item) => encodeProtobufItem(shape.itemType, shape.show(passingViewOf(kind, item))));
    return { status: 200, headers: PROTOBUF_HEADERS, body: encodeProtobufList(shape.head, encoded) };
  }
  const head = Buffer.from(`${JSON.stringify(shape.head).slice(0, -1)},"${shape.field}":[`);
  const chunks = isAsStored(kind, wanted.form)
    ? items.flatMap(({ json }, index) => (index === 0 ? [json] : [COMMA, json]))
    : encodeTexts(items, itemText(kind, shape, wanted));
  return { status: 200, headers: JSON_HEADERS, body: [head, ...chunks, LIST_END] };
}

/** As many characters are encoded at a time: a buffer for each of thousands of rows would weigh as much as the rows. */
const CHUNK_CHARACTERS = 64 * 1024;

function encodeTexts(items: readonly StoredObject[], textOf: (item: StoredObject) => string): Buffer[] {
  const chunks: Buffer[] = [];
  let text = "";
  for (const [index, item] of items.entries()) {
    text += index === 0 ? textOf(item) : `,${textOf(item)}`;
    if (text.length < CHUNK_CHARACTERS) continue;
    chunks.push(Buffer.from(text));
    text = "";
  }
  chunks.push(Buffer.from(text));
  return chunks;
}

/** How each item of a list becomes JSON: with as little parsing as its form allows. */
function itemText(kind: ResourceKind, shape: ListShape, wanted: AnswerForm): (item: StoredObject) => string {
  const { as, version } = wanted.form;
  // A column of a custom resource may print anything; and what is a view of another kind is not stored as it is shown.
  if (kind.storedAs === undefined && kind.schema.strategicMerge) {
    if (as === "PartialObjectMetadataList") return (item) => partialText(storedTextOf(item), version);
    if (as === "Table" && wanted.includeObject !== "Object") return (item) => rowText(kind, item, wanted);
  }
  return (item) => JSON.stringify(shape.show(passingViewOf(kind, item)));
}

/** `rowOf` as JSON. */
function rowText(kind: ResourceKind, item: StoredObject, { form, includeObject, now }: AnswerForm): string {
  const text = storedTextOf(item);
  const cells = JSON.stringify(cellsOf(kind, text.parseRest(), now));
  return includeObject === "None"
    ? `{"cells":${cells}}`
    : `{"cells":${cells},"object":${partialText(text, form.version)}}`;
}

/** `partialOf` as JSON. */
function partialText({ metadata }: StoredText, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${metadata}}`;
}

const COMMA = Buffer.from(",");
const LIST_END = Buffer.from("]}\n");

/** How a list is shown: one item after the other, so that the parsed form of one is garbage before the next. */
interface ListShape {
  /** Everything but the items. */
  readonly head: ProtobufObject;
  readonly field: "items" | "rows";
  readonly itemType: { readonly apiVersion: string; readonly kind: string };
  show(object: KubeObject): ProtobufObject;
}

function listShape(kind: ResourceKind, metadata: Listed["metadata"], wanted: AnswerForm): ListShape {
  const { as, version } = wanted.form;
  switch (as) {
    case "Table": {
      const options = { ...wanted, version, metadata };
      const show = (object: KubeObject) => rowOf(kind, object, options);
      return { head: tableHead(kind, options), field: "rows", itemType: itemTypeOf(kind), show };
    }
    case "PartialObjectMetadata":
      throw misshapen("PartialObjectMetadata", `is a list (${kind.listKind})`);
    case "PartialObjectMetadataList": {
      const apiVersion = `meta.k8s.io/${version}`;
      const head = { kind: "PartialObjectMetadataList", apiVersion, metadata };
      const itemType = { kind: "PartialObjectMetadata", apiVersion };
      return { head, field: "items", itemType, show: (object) => partialOf(object, version) };
    }
    case undefined: {
      const head = { kind: kind.listKind, apiVersion: apiVersionOf(kind), metadata };
      return { head, field: "items", itemType: itemTypeOf(kind), show: (object) => object };
    }
  }
}

const itemTypeOf = (kind: ResourceKind) => ({ kind: kind.kind, apiVersion: apiVersionOf(kind) });
