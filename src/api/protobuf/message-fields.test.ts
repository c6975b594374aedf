import { describe, expect, it } from "vitest";
import { PROTOBUF_FIELDS } from "../gen/protobuf-fields.ts";
import { DEFINITION_NAMES, SERVED_SCHEMA } from "../gen/served-schema.ts";
import { jsonShapeOf } from "./json-shape.ts";
import { type MessageField, messageFieldsOf, messageNameOf } from "./message-fields.ts";
import { SCALAR_WRITERS } from "./write-scalar.ts";

describe("which message an object is", () => {
  it.each([
    ["v1", "Pod", "core.v1.Pod"],
    ["apps/v1", "Deployment", "apps.v1.Deployment"],
    ["rbac.authorization.k8s.io/v1", "Role", "rbac.v1.Role"],
    ["apiextensions.k8s.io/v1", "CustomResourceDefinition", "apiextensions.v1.CustomResourceDefinition"],
    ["v1", "PodList", "core.v1.PodList"],
    ["v1", "Status", "meta.v1.Status"],
    ["meta.k8s.io/v1", "PartialObjectMetadataList", "meta.v1.PartialObjectMetadataList"],
    ["meta.k8s.io/v1beta1", "PartialObjectMetadata", "meta.v1.PartialObjectMetadata"],
    ["", "APIVersions", "meta.v1.APIVersions"],
  ])("%s, kind %s is %s", (apiVersion, kind, message) => {
    expect(messageNameOf({ apiVersion, kind })).toBe(message);
    expect(messageFieldsOf(message).size).toBeGreaterThan(0);
  });

  it.each([
    // The first part of a custom group may be the name of a built-in one.
    ["apps.example.com/v1", "Deployment"],
    ["gateway.networking.k8s.io/v1", "Gateway"],
    ["apps/v2", "Deployment"],
    ["example.com/v1", "Status"],
    ["v1", "Table"],
    ["v1", "List"],
  ])("%s, kind %s has none", (apiVersion, kind) => expect(messageNameOf({ apiVersion, kind })).toBeUndefined());
});

const isKnown = (type: string) =>
  SCALAR_WRITERS.has(type) || type.startsWith("Items:") || Object.hasOwn(PROTOBUF_FIELDS, type);

const messageOfDefinition = (definition: string) => definition.split(".").slice(-3).join(".");

const served = Object.entries(DEFINITION_NAMES).flatMap(([type, definition]) => {
  const message = messageOfDefinition(definition);
  return Object.hasOwn(PROTOBUF_FIELDS, message) && !jsonShapeOf(message) ? [{ type, message }] : [];
});

/** With those of the messages that are embedded. */
function allFieldsOf(message: string): MessageField[] {
  return [...messageFieldsOf(message).values()].flatMap((field) =>
    field.name === "" ? allFieldsOf(field.type) : [field],
  );
}

/** Describes a type in the form of the table of messages: `[]Container` is `list core.v1.Container`. */
function expectedType(declared: string): string {
  const [, prefix = "", type = ""] = /^((?:\[\]|\{\})*)([^!]*)!?$/.exec(declared) ?? [];
  const definition = DEFINITION_NAMES[type];
  return `${prefix}${definition === undefined ? type : messageOfDefinition(definition)}`;
}

/** In the words of the schema of JSON: what has no fields there, or is a list of lists, has a message of its own. */
function declaredType({ shape, type }: MessageField): string {
  const prefix = { one: "", list: "[]", map: "{}" }[shape];
  if (type.startsWith("Items:")) return `${prefix}[]${type.slice("Items:".length)}`;
  const isRaw = type.startsWith("Raw") || jsonShapeOf(type) !== undefined || PROTOBUF_FIELDS[type] === "";
  return prefix + (isRaw ? "raw" : type);
}

describe("the table of fields", () => {
  it.each(served)("$message has every field that $type has in JSON, of its type", ({ type, message }) => {
    const known = new Map(allFieldsOf(message).map((field) => [field.name, declaredType(field)]));
    const { apiVersion: _version, kind: _kind, ...fields } = SERVED_SCHEMA[type] ?? {};
    const expected = Object.entries(fields).map(([name, declared]) => [name, expectedType(declared)]);
    expect(expected.map(([name = ""]) => [name, known.get(name)])).toEqual(expected);
  });

  it("knows every type that a field of it has", () => {
    const unknown = Object.keys(PROTOBUF_FIELDS).flatMap((message) =>
      [...messageFieldsOf(message).values()]
        .filter(({ type }) => !isKnown(type))
        .map(({ name, type }) => `${message}.${name}: ${type}`),
    );
    expect(unknown).toEqual([]);
  });
});
