import { ApiError } from "../../api/api-error.ts";
import { formatYaml, formatYamlItem } from "../../api/format-yaml.ts";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import {
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufList,
  type ProtobufObject,
} from "../../api/protobuf/encode-protobuf.ts";
import { PROTOBUF_TYPE } from "../../api/protobuf/magic.ts";
import type { ServedAnswer } from "../../host/http-server.ts";
import { SCALE_COLUMNS } from "../kinds/columns/autoscaling-columns.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { parseStored, passingViewOf, viewOf } from "../registry/object-view.ts";
import type { Listed } from "../registry/read.ts";
import { createListBody, type ListBody } from "./list-body.ts";
import type { AcceptedForm } from "./media-type.ts";
import { keptRowOf, type PrintedRow, printedRowOf } from "./printed-row.ts";
import { type Span, storedTextOf } from "./stored-text.ts";
import { type IncludeObject, partialOf, tableHead, tableOf, tableRowOf } from "./table.ts";

/** How the caller wants to see what is returned. */
export interface AnswerForm {
  readonly form: AcceptedForm;
  /** In a table: the part of the object that each row carries. */
  readonly includeObject: IncludeObject;
  /** For ages in tables, ms since the epoch. */
  readonly now: number;
}

/** An object as the answer's body; in protobuf where that is wanted and the kind has a form in it. */
export function encodeValue(status: number, value: object, { encoding }: AcceptedForm): ServedAnswer {
  switch (encoding) {
    case "json":
      return { status, headers: JSON_HEADERS, body: `${JSON.stringify(value)}\n` };
    case "yaml":
      return { status, headers: YAML_HEADERS, body: formatYaml(value) };
    case "protobuf":
      return { status, headers: PROTOBUF_HEADERS, body: encodeProtobuf({ ...value }) };
  }
}

const JSON_HEADERS = { "content-type": "application/json" };
const YAML_HEADERS = { "content-type": "application/yaml" };
const PROTOBUF_HEADERS = { "content-type": PROTOBUF_TYPE };

/** One object of a kind, in the form that is wanted. */
export function encodeObject(status: number, kind: ResourceKind, object: KubeObject, wanted: AnswerForm): ServedAnswer {
  return encodeValue(status, shapeObject(kind, object, wanted), wanted.form);
}

/** The same, without encoding anew a version that the store holds encoded. */
export function encodeStored(
  status: number,
  kind: ResourceKind,
  stored: StoredObject,
  wanted: AnswerForm,
): ServedAnswer {
  const { form } = wanted;
  if (!isAsStored(kind, form)) return encodeObject(status, kind, viewOf(kind, stored), wanted);
  return { status, headers: JSON_HEADERS, body: stored.json };
}

/** True when the answer consists of the bytes that the store holds. */
export function isAsStored(kind: ResourceKind, form: AcceptedForm): boolean {
  return form.encoding === "json" && form.as === undefined && kind.storedAs === undefined;
}

/** The object as itself, a table of one row, or its metadata. */
function shapeObject(kind: ResourceKind, object: KubeObject, wanted: AnswerForm): ProtobufObject {
  switch (wanted.form.as) {
    case "Table": {
      const { resourceVersion = "" } = object.metadata;
      // A scale is printed as one, whatever it is of.
      const printed = isScale(object) ? { columns: SCALE_COLUMNS } : kind;
      return tableOf(printed, [object], { ...wanted, version: wanted.form.version, metadata: { resourceVersion } });
    }
    case "PartialObjectMetadata":
      return partialOf(object, wanted.form.version);
    case "PartialObjectMetadataList":
      throw misshapen("PartialObjectMetadataList", `is not a list (${kind.kind})`);
    case undefined:
      return object;
  }
}

const isScale = ({ apiVersion, kind }: KubeObject) => kind === "Scale" && apiVersion === "autoscaling/v1";

function misshapen(requested: string, but: string): ApiError {
  return new ApiError("NotAcceptable", `you requested ${requested}, but the requested object ${but}`);
}

/** Lets other requests be served, and resolves soon after. */
type Pause = () => Promise<void>;

/** Objects parsed before other requests get their turn, and their bytes: a few milliseconds of work. */
const PARSED_AT_A_TIME = 256;
const PARSED_BYTES_AT_A_TIME = 256 * 1024;

/** Takes the pauses in a long piece of work on stored objects. */
function createSlices(pause: Pause): (item: StoredObject) => Promise<void> {
  let [objects, bytes] = [0, 0];
  return async ({ json }) => {
    objects += 1;
    bytes += json.length;
    if (objects < PARSED_AT_A_TIME && bytes < PARSED_BYTES_AT_A_TIME) return;
    [objects, bytes] = [0, 0];
    await pause();
  };
}

/** A page of a list. A long one that has to be parsed is put together in slices. */
export async function encodeList(
  kind: ResourceKind,
  listed: Listed,
  wanted: AnswerForm,
  pause: Pause,
): Promise<ServedAnswer> {
  const shape = listShape(kind, listed.metadata, wanted);
  const items = wanted.form.as === "Table" ? inRowOrder(kind, listed.items) : listed.items;
  if (wanted.form.encoding === "json") return await encodeJsonList(kind, { items, shape }, wanted, pause);
  const show = (item: StoredObject) => shape.show(passingViewOf(kind, item));
  if (wanted.form.encoding === "yaml") {
    const texts = await mapInSlices(items, (item) => Buffer.from(formatYamlItem(show(item))), pause);
    const field = `${shape.field}:${texts.length === 0 ? " []" : ""}\n`;
    return { status: 200, headers: YAML_HEADERS, body: [Buffer.from(`${formatYaml(shape.head)}${field}`), ...texts] };
  }
  const encoded = await mapInSlices(items, (item) => encodeProtobufItem(shape.itemType, show(item)), pause);
  return { status: 200, headers: PROTOBUF_HEADERS, body: encodeProtobufList(shape.head, encoded) };
}

function inRowOrder(kind: ResourceKind, items: readonly StoredObject[]): readonly StoredObject[] {
  const { rowRank } = kind;
  if (rowRank === undefined) return items;
  const rankOf = (item: StoredObject) => rowRank(passingViewOf(kind, item));
  return items
    .map((item) => ({ item, rank: rankOf(item) }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

async function mapInSlices<T>(
  items: readonly StoredObject[],
  show: (item: StoredObject) => T,
  pause: Pause,
): Promise<T[]> {
  const shown: T[] = [];
  const worked = createSlices(pause);
  for (const item of items) {
    shown.push(show(item));
    await worked(item);
  }
  return shown;
}

async function encodeJsonList(
  kind: ResourceKind,
  { items, shape }: { items: readonly StoredObject[]; shape: ListShape },
  wanted: AnswerForm,
  pause: Pause,
): Promise<ServedAnswer> {
  const body = createListBody();
  const { isParsed, add } = itemWriter(kind, { shape, body }, wanted);
  body.add(`${JSON.stringify(shape.head).slice(0, -1)},"${shape.field}":[`);
  const worked = createSlices(pause);
  for (const [index, item] of items.entries()) {
    const takesTime = isParsed(item);
    if (index > 0) body.add(",");
    add(item);
    if (takesTime) await worked(item);
  }
  body.add("]}\n");
  return { status: 200, headers: JSON_HEADERS, body: body.chunks() };
}

/** Puts an item of a list into its body, and knows whether it has to be parsed for that. */
interface ItemWriter {
  isParsed(item: StoredObject): boolean;
  add(item: StoredObject): void;
}

/** Parses as little of the object as the form allows. */
function itemWriter(
  kind: ResourceKind,
  { shape, body }: { shape: ListShape; body: ListBody },
  wanted: AnswerForm,
): ItemWriter {
  const { as, version } = wanted.form;
  const always = () => true;
  // A kind that is a view of another one is not stored in the form in which it is shown.
  if (kind.storedAs !== undefined) {
    return { isParsed: always, add: (item) => body.add(JSON.stringify(shape.show(passingViewOf(kind, item)))) };
  }
  if (as === undefined && !isTypeless(kind)) return { isParsed: () => false, add: ({ json }) => body.addStored(json) };
  if (as === undefined) {
    const head = typeHeadOf(kind);
    const isParsed = ({ json }: StoredObject) => json.compare(head, 0, head.length, 0, head.length) !== 0;
    return { isParsed, add: (item) => addTypeless(body, item, isParsed(item) ? undefined : head) };
  }
  if (as !== "Table") {
    return { isParsed: always, add: (item) => addPartial(body, item, { version, span: storedTextOf(item).metadata }) };
  }
  return {
    isParsed: (item) => keptRowOf(kind, item) === undefined,
    add: (item) => addRow(body, item, { ...wanted, row: printedRowOf(kind, item) }),
  };
}

/** The bytes with which a stored object of the kind begins, unless an earlier version of ours has stored it. */
function typeHeadOf(kind: ResourceKind): Buffer {
  return Buffer.from(`${JSON.stringify({ kind: kind.kind, apiVersion: apiVersionOf(kind) }).slice(0, -1)},`);
}

/** An item without its type; it is cut off where it is the head of the bytes. */
function addTypeless(body: ListBody, item: StoredObject, head: Buffer | undefined): void {
  if (head === undefined) {
    body.add(JSON.stringify(typelessOf(parseStored(item))));
    return;
  }
  body.add("{");
  body.addStored(item.json.subarray(head.length));
}

/** `tableRowOf` as JSON. */
function addRow(
  body: ListBody,
  item: StoredObject,
  { row, form, includeObject, now }: AnswerForm & { row: PrintedRow },
): void {
  const cells = row.cells.map((cell) => (typeof cell === "function" ? cell(now) : cell));
  body.add(`{"cells":${JSON.stringify(cells)}`);
  if (includeObject !== "None") {
    body.add(',"object":');
    if (includeObject === "Object") body.addStored(item.json);
    else addPartial(body, item, { version: form.version, span: row.metadata });
  }
  body.add("}");
}

/** `partialOf` as JSON. */
function addPartial(body: ListBody, { json }: StoredObject, { version, span }: { version: string; span: Span }): void {
  body.add(`{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`);
  body.addStored(json.subarray(span.start, span.end));
  body.add("}");
}

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
      const show = (object: KubeObject) => tableRowOf(kind, object, options);
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
      const show = isTypeless(kind) ? typelessOf : (object: KubeObject) => object;
      return { head, field: "items", itemType: itemTypeOf(kind), show };
    }
  }
}

/** True where the items of a list do not repeat their type: upstream, those of built-in kinds never have it. */
const isTypeless = (kind: ResourceKind) => kind.schema.strategicMerge;

function typelessOf({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): ProtobufObject {
  return rest;
}

const itemTypeOf = (kind: ResourceKind) => ({ kind: kind.kind, apiVersion: apiVersionOf(kind) });
