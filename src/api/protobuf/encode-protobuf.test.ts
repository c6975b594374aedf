import { BinaryWriter } from "@bufbuild/protobuf/wire";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PROTOBUF_FIELDS } from "../gen/protobuf-fields.ts";
import { decodeProtobuf } from "./decode-protobuf.ts";
import {
  encodeProtobuf,
  encodeProtobufEvent,
  encodeProtobufItem,
  encodeProtobufList,
  hasProtobufForm,
} from "./encode-protobuf.ts";
import { type MessageField, messageFieldsOf } from "./message-fields.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const isNonZero = (value: unknown) => value !== "" && value !== 0 && value !== false && !Object.is(value, -0);

const json = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
  maxKeys: 3,
});
const text = fc.string({ unit: "grapheme", maxLength: 60 });
const seconds = fc
  .date({ min: new Date("0001-01-02T00:00:00Z"), max: new Date("9999-12-31T00:00:00Z"), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`);
const micros = fc
  .tuple(seconds, fc.nat(999_999))
  .map(([time, fraction]) => time.replace("Z", `.${String(fraction).padStart(6, "0")}Z`));

const SCALARS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: text,
  boolean: fc.boolean(),
  int32: fc.integer(),
  int64: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: 2n ** 60n, max: 2n ** 63n - 1n }), fc.constant(-(2n ** 63n))),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64")),
  Time: seconds,
  MicroTime: micros,
  Quantity: fc.constantFrom("0", "100m", "1Gi", "1500"),
  IntOrString: fc.oneof(fc.integer(), text),
  RawBytes: json,
  RawExtension: json,
  "apiextensions.v1.JSONSchemaPropsOrBool": fc.boolean(),
  "apiextensions.v1.JSONSchemaPropsOrArray": fc.constant([{ type: "string" }]),
  "apiextensions.v1.JSONSchemaPropsOrStringArray": fc.array(text),
};

/** Messages that hold themselves, and those that hold half of the API, end somewhere. */
const MAX_DEPTH = 7;

/**
 * Makes objects as a decoder would give them: fields that are no pointers in Go leave out zeros (so that these must
 * come back as absence), and messages are there.
 */
function objectOf(message: string, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields = [...messageFieldsOf(message).values()];
  const required: Record<string, fc.Arbitrary<unknown>> = {};
  const optional: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of fields.filter(({ name }) => name !== "")) {
    const isMessage = SCALARS[field.type] === undefined && !field.type.startsWith("Items:");
    const isAlways =
      field.isRequired || (field.shape === "one" && !field.isPointer && (isMessage || field.type === "Quantity"));
    if (isMessage && depth > MAX_DEPTH && !isAlways) continue;
    if (isAlways) required[field.name] = valueOfField(field, depth);
    else if (depth < 3 || isRare(field.name)) optional[field.name] = valueOfField(field, depth);
  }
  const own = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
  const embedded = fields.filter(({ name }) => name === "").map(({ type }) => objectOf(type, depth));
  return fc.tuple(own, ...embedded).map((parts) => Object.assign({}, ...parts));
}

/** Deep down a few fields stand for all. */
const isRare = (name: string) => name.length % 3 === 0;

function valueOfField({ type, shape, isPointer, isRequired }: MessageField, depth: number): fc.Arbitrary<unknown> {
  const items = type.startsWith("Items:") ? fc.array(text, { maxLength: 2 }) : SCALARS[type];
  const one = items ?? fc.constant(undefined).chain(() => objectOf(type, depth + 1));
  if (shape === "list") return fc.array(one, { minLength: 1, maxLength: 2 });
  if (shape === "map") return fc.dictionary(text, one, { minKeys: 1, maxKeys: 3, noNullPrototype: true });
  return isPointer || isRequired ? one : one.filter(isNonZero);
}

/** Every kind that has metadata, with its group and version. */
const kinds = Object.entries(PROTOBUF_FIELDS).flatMap(([message, row]) => {
  const [group = "", version = "", kind = ""] = message.split(".");
  const apiVersion = [group, `${group}.k8s.io`, "rbac.authorization.k8s.io"]
    .map((name) => (group === "core" ? version : `${name}/${version}`))
    .find((name) => hasProtobufForm({ apiVersion: name, kind }));
  const isKind = row.startsWith("metadata=1:meta.v1.ObjectMeta ");
  return isKind && apiVersion !== undefined ? [{ apiVersion, kind, message }] : [];
});

describe("objects in protobuf", () => {
  it("are of many kinds", () => expect(kinds.length).toBeGreaterThan(50));

  it.each(kinds)("of kind $kind, $apiVersion, come back as they were", ({ apiVersion, kind, message }) => {
    const object = objectOf(message);
    fc.assert(
      fc.property(object, (fields) => {
        const whole = { ...fields, apiVersion, kind };
        expect(decodeProtobuf(encodeProtobuf(whole))).toEqual(whole);
      }),
      { numRuns: 15 },
    );
  });

  it("are written as Go writes them: zeros that are no pointers, maps by key, an empty end of the envelope", () => {
    const metadata = { name: "a", creationTimestamp: null, labels: { b: "", a: "ä" } };
    const bytes = encodeProtobuf({ apiVersion: "v1", kind: "ConfigMap", metadata, immutable: false });
    const labels = "5a07" + "0a0161" + "1202c3a4" + "5a05" + "0a0162" + "1200";
    const meta = `0a0161${"1200"}${"1a00"}${"2200"}${"2a00"}${"3200"}${"3800"}${"4200"}${labels}`;
    const raw = `0a${(meta.length / 2).toString(16).padStart(2, "0")}${meta}2000`;
    const type = "0a0f" + "0a027631" + "1209436f6e6669674d6170";
    expect(hex(bytes)).toBe(
      `6b387300${type}12${(raw.length / 2).toString(16).padStart(2, "0")}${raw}${"1a00"}${"2200"}`,
    );
  });

  it.each([
    ["times without seconds' fractions", { time: "2026-01-02T03:04:05.678901Z" }, { time: "2026-01-02T03:04:05Z" }],
    ["times of other zones", { time: "2026-01-02T03:04:05+02:00" }, { time: "2026-01-02T01:04:05Z" }],
    ["no zero time", { time: "0001-01-01T00:00:00Z" }, {}],
    ["owned fields", { fieldsV1: { "f:a": { ".": {} } } }, { fieldsV1: { "f:a": { ".": {} } } }],
  ])("keep %s", (_what, entry, expected) => {
    const bytes = encodeProtobuf({ ...pod, metadata: { managedFields: [entry] } });
    expect(decodeProtobuf(bytes)).toHaveProperty("metadata.managedFields", [expected]);
  });

  it("keep keys that mean something to JavaScript, long texts and any character", () => {
    const data: unknown = JSON.parse(`{"__proto__":"a","constructor":"b","long":"${"ü€𝄞".repeat(100_000)}"}`);
    const decoded = decodeProtobuf(encodeProtobuf({ apiVersion: "v1", kind: "ConfigMap", data }));
    expect(decoded).toMatchObject({ kind: "ConfigMap" });
    expect(JSON.stringify(decoded["data"])).toBe(JSON.stringify(data));
  });

  it("keep the schemas of definitions, which are three things in one in JSON", () => {
    const openAPIV3Schema = {
      type: "object",
      properties: {
        any: { additionalProperties: true },
        none: { additionalProperties: false },
        texts: { additionalProperties: { type: "string" } },
        one: { items: { type: "string", enum: ["a", null, 1.5, { b: [] }] } },
        many: { items: [{ type: "string" }, { type: "integer", minimum: 1.5 }] },
      },
      dependencies: { a: ["b"], c: { required: ["d"] } },
    };
    const spec = { versions: [{ name: "v1", schema: { openAPIV3Schema } }] };
    const bytes = encodeProtobuf({ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", spec });
    expect(decodeProtobuf(bytes)).toMatchObject({ spec });
  });

  it("are refused where there is no such thing, and leave the next one unharmed", () => {
    expect(() => encodeProtobuf({ apiVersion: "example.com/v1", kind: "Pod" })).toThrow(TypeError);
    expect(() => encodeProtobuf({ ...pod, metadata: { name: 1 } })).toThrow(TypeError);
    expect(() => encodeProtobuf({ ...pod, spec: "none" })).toThrow(TypeError);
    expect(decodeProtobuf(encodeProtobuf({ ...pod, metadata: { name: "a" } }))).toMatchObject({
      metadata: { name: "a" },
    });
  });
});

const pod = { apiVersion: "v1", kind: "Pod" };

describe("a list in protobuf", () => {
  it.each([0, 1, 300])("of %d items is what they are together", (count) => {
    const items = Array.from({ length: count }, (_, index) => ({ metadata: { name: `pod-${index}` } }));
    const list = { apiVersion: "v1", kind: "PodList", metadata: { resourceVersion: "7", remainingItemCount: 0 } };
    const encoded = items.map((item) => encodeProtobufItem(pod, item));
    const joined = Buffer.concat(encodeProtobufList(list, encoded));
    expect(hex(joined)).toBe(hex(encodeProtobuf({ ...list, items })));
    expect(decodeProtobuf(joined)).toMatchObject({ ...list, ...(count > 0 && { items }) });
  });
});

describe("an event in protobuf", () => {
  it("is framed by its length, with the object in its envelope inside", () => {
    const object = { ...pod, metadata: { name: "a".repeat(300) } };
    const frame = encodeProtobufEvent("MODIFIED", object);
    expect(frame.readUInt32BE(0)).toBe(frame.length - 4);
    const envelope = encodeProtobuf(object);
    const field = (number: number, bytes: Uint8Array) => new BinaryWriter().tag(number, 2).bytes(bytes).finish();
    const extension = field(1, envelope);
    const expected = Buffer.concat([field(1, Buffer.from("MODIFIED")), field(2, extension)]);
    expect(hex(frame.subarray(4))).toBe(hex(expected));
  });
});

describe("what is no protobuf", () => {
  const whole = encodeProtobuf({ ...pod, metadata: { name: "a" } });

  it.each([
    ["JSON", Buffer.from("{}")],
    ["another magic number", Buffer.from("k9s\0")],
    ["half an object", whole.subarray(0, whole.length - 20)],
    ["a custom resource", withType("example.com/v1", "Thing")],
  ])("is refused: %s", (_what, bytes) => {
    expect(() => decodeProtobuf(bytes)).toThrow(expect.objectContaining({ reason: "BadRequest" }));
  });

  it("is refused when it nests without end", () => {
    let node: Record<string, unknown> = { type: "string" };
    for (let depth = 0; depth < 200; depth++) node = { not: node };
    const spec = { versions: [{ schema: { openAPIV3Schema: node } }] };
    const bytes = encodeProtobuf({ apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", spec });
    expect(() => decodeProtobuf(bytes)).toThrow(/nested deeper/);
  });
});

function withType(apiVersion: string, kind: string): Buffer {
  const type = new BinaryWriter().tag(1, 2).string(apiVersion).tag(2, 2).string(kind).finish();
  return Buffer.concat([Buffer.from("k8s\0"), new BinaryWriter().tag(1, 2).bytes(type).finish()]);
}
