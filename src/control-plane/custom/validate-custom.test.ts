import { describe, expect, test } from "vitest";
import { formatFieldError } from "../../api/field-error.ts";
import type { KubeObject } from "../../api/object.ts";
import type { Schema } from "./schema-props.ts";
import { createCustomValidation } from "./validate-custom.ts";

const word: Schema = { type: "string", enum: ["good"] };
const named: Schema = { type: "object", required: ["name"], properties: { name: { type: "string" }, word } };
const byName = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
const SCHEMA: Schema = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      properties: {
        word,
        count: { type: "integer", maximum: 3 },
        inner: { type: "object", properties: { word, other: { type: "string" } } },
        words: { type: "object", additionalProperties: word },
        hosts: { type: "array", items: named, ...byName },
        ordered: { type: "array", items: word },
        unique: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
        either: { type: "object", properties: { word, n: { type: "integer" } }, anyOf: [{ required: ["n"] }] },
        neither: { type: "object", not: { properties: { word } } },
      },
    },
    status: { type: "object", properties: { word, replicas: { type: "integer" } } },
  },
};
const scale = { specReplicas: ["spec", "count"], statusReplicas: ["status", "replicas"], selector: [] };
const { validate, validateStatus } = createCustomValidation(SCHEMA, scale);

const objectOf = (fields: object): KubeObject => ({
  apiVersion: "a.example/v1",
  kind: "A",
  metadata: { name: "a" },
  ...fields,
});
const updated = (old: object, next: object) =>
  validate(objectOf({ spec: next }), objectOf({ spec: old })).map(({ path }) => path);

describe("an update is not held up by what it leaves as it is", () => {
  const bad = { word: "bad" };
  test.each<[string, object, object, string[]]>([
    ["a field", bad, { ...bad, count: 1 }, []],
    ["a field that changes", bad, { word: "worse" }, ["spec.word"]],
    ["a new field", {}, bad, ["spec.word"]],
    ["a field below one that changed", { inner: bad }, { inner: { ...bad, other: "x" } }, []],
    ["a value of a map", { words: { a: "bad" } }, { words: { a: "bad", b: "bad" } }, ["spec.words.b"]],
    [
      "an item with keys, at another place",
      { hosts: [{ name: "a", ...bad }] },
      {
        hosts: [
          { name: "b", ...bad },
          { name: "a", ...bad },
        ],
      },
      ["spec.hosts[0].word"],
    ],
    ["an item without keys", { ordered: ["bad"] }, { ordered: ["bad", "good"] }, ["spec.ordered[0]"]],
    ["a list without keys, as it was", { ordered: ["bad"] }, { ordered: ["bad"], count: 1 }, []],
    ["items that are repeated", { unique: ["a", "a"] }, { unique: ["b", "b"] }, []],
    ["items that are repeated now", { unique: ["a"] }, { unique: ["b", "b"] }, ["spec.unique[1]"]],
    ["a part of an alternative", { either: { ...bad, n: 1 } }, { either: { ...bad, n: 2 } }, []],
    ["what must not fit", { neither: bad }, { neither: { ...bad, more: 1 } }, []],
  ])("%s", (_, old, next, paths) => {
    expect(updated(old, next)).toEqual(paths);
  });

  test("a new object is judged as a whole", () => {
    expect(validate(objectOf({ spec: bad })).map(({ path }) => path)).toEqual(["spec.word"]);
  });
});

describe("an update of the status", () => {
  const statusUpdated = (old: unknown, status: unknown) =>
    validateStatus(objectOf({ spec: { word: "bad" }, status }), objectOf({ spec: { word: "bad" }, status: old })).map(
      formatFieldError,
    );
  test.each<[string, unknown, unknown, string[]]>([
    [
      "is judged by the schema",
      {},
      { word: "bad" },
      ['status.word: Unsupported value: "bad": supported values: "good"'],
    ],
    ["keeps what was there", { word: "bad" }, { word: "bad", replicas: 1 }, []],
    [
      "counts from zero",
      {},
      { replicas: -1 },
      [".status.replicas: Invalid value: -1: should be a non-negative integer"],
    ],
    [
      "may be all there is wrong about it",
      undefined,
      5,
      ['status: Invalid value: "integer": status in body must be of type object: "integer"'],
    ],
  ])("%s", (_, old, status, problems) => {
    expect(statusUpdated(old, status)).toEqual(problems);
  });
});
