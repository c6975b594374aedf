import { CORE, type HostileBody, join, list, MANY, MEBIBYTE, NAMED, repeated } from "./hostile-body.ts";

const json = (name: string, body: () => string, path = `${CORE}/configmaps`): HostileBody => ({
  name: `JSON: ${name}`,
  path,
  body,
});
const configMap = (rest: string) => `{"metadata":{"generateName":"hostile-"},${rest}}`;

/** Texts of JSON that take long to read, or metadata that takes long to handle. */
export const JSON_BODIES: readonly HostileBody[] = [
  json("three MiB of keys", () => configMap(`"x":{${join(250_000, (i) => `"k${i}":1`)}}`)),
  json("three MiB of keys of its own", () => configMap(join(250_000, (i) => `"k${i}":1`))),
  json("three MiB of objects", () => configMap(`"x":[${repeated("{},", 3 * MEBIBYTE - 100)}{}]`)),
  json("three MiB of nested pairs", () => configMap(`"x":[${repeated('{"a":{"b":{}}},', 3 * MEBIBYTE - 100)}{}]`)),
  json("three MiB of numbers", () => configMap(`"x":[${repeated("1,", 3 * MEBIBYTE - 100)}1]`)),
  json("three MiB of long numbers", () => configMap(`"x":[${repeated("12345678901234567890,", 3 * MEBIBYTE - 100)}1]`)),
  json("a number of three MiB", () => configMap(`"x":${repeated("1", 3 * MEBIBYTE - 100)}`)),
  json("three MiB of quotes", () => configMap(`"x":"${repeated('\\"', 3 * MEBIBYTE - 100)}"`)),
  json("three MiB of backslashes", () => configMap(`"x":"${repeated("\\\\", 3 * MEBIBYTE - 100)}"`)),
  json("three MiB of small strings", () => configMap(`"x":[${repeated('"",', 3 * MEBIBYTE - 100)}""]`)),
  json("three MiB of spaces", () => configMap(`"x":${repeated(" ", 3 * MEBIBYTE - 100)}1`)),
  json("a field three hundred thousand times", () => configMap(join(300_000, () => '"k":1'))),
  json("nine thousand deep", () => configMap(`"x":${'{"a":'.repeat(9e3)}1${"}".repeat(9e3)}`)),
  json("a key of three MiB", () => configMap(`"x":{"${repeated("k", 3 * MEBIBYTE - 100)}":1}`)),
  json("a path of two MiB, deep", () => configMap(`"x":${`{"${"k".repeat(250)}":`.repeat(9e3)}1${"}".repeat(9e3)}`)),
  json("duplicates at the end of a long path", () =>
    configMap(`"x":${`{"${"k".repeat(230)}":`.repeat(9e3)}{${join(20_000, () => '"a":1')}}${"}".repeat(9e3)}`),
  ),
  json("data of a hundred thousand keys", () => configMap(`"data":{${join(100_000, (i) => `"k${i}":"v"`)}}`)),
  json("data of bad keys", () => configMap(`"data":{${join(100_000, (i) => `"k ${i}":"v"`)}}`)),
  json("managed fields", () =>
    JSON.stringify({
      metadata: {
        ...NAMED,
        managedFields: list(MANY, (i) => ({
          manager: `m${i}`,
          operation: "Update",
          apiVersion: "v1",
          time: "2024-01-01T00:00:00Z",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { [`f:k${i % 7}`]: {} } },
        })),
      },
      data: { k0: "a" },
    }),
  ),
  json("appliers in managed fields", () =>
    JSON.stringify({
      metadata: {
        ...NAMED,
        managedFields: list(MANY, (i) => ({
          manager: `m${i}`,
          operation: "Apply",
          apiVersion: "v1",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { [`f:k${i % 7}`]: {} } },
        })),
      },
      data: { k0: "a" },
    }),
  ),
  json("a manager of many fields", () =>
    JSON.stringify({
      metadata: {
        ...NAMED,
        managedFields: [
          {
            manager: "m",
            operation: "Update",
            apiVersion: "v1",
            fieldsType: "FieldsV1",
            fieldsV1: { "f:data": Object.fromEntries(list(150_000, () => ({})).map((value, i) => [`f:k${i}`, value])) },
          },
        ],
      },
      data: { k0: "a" },
    }),
  ),
  json("labels", () =>
    JSON.stringify({
      metadata: { ...NAMED, labels: Object.fromEntries(list(150_000, () => ({})).map((_, i) => [`k${i}`, "v"])) },
    }),
  ),
  json("annotations", () =>
    JSON.stringify({
      metadata: { ...NAMED, annotations: Object.fromEntries(list(150_000, () => ({})).map((_, i) => [`k${i}`, "v"])) },
    }),
  ),
  json("finalizers", () =>
    JSON.stringify({
      metadata: { ...NAMED, finalizers: list(100_000, () => ({})).map((_, i) => `example.com/f${i}`) },
    }),
  ),
  json("owners", () =>
    JSON.stringify({
      metadata: {
        ...NAMED,
        ownerReferences: list(MANY, (i) => ({ apiVersion: "v1", kind: "ConfigMap", name: `a${i}`, uid: `u${i}` })),
      },
    }),
  ),
  json("a name of three MiB", () => JSON.stringify({ metadata: { name: "a".repeat(3 * MEBIBYTE - 100) } })),
  json("a name of dashes and dots", () => JSON.stringify({ metadata: { name: "a-.".repeat(MEBIBYTE - 100) } })),
];
