import { type HostileBody, list, MEBIBYTE, nested } from "./hostile-body.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const definition = (name: string, schema: () => object, more: () => object = () => ({})): HostileBody => {
  const plural = `h${name.replaceAll(/[^a-z]/g, "")}`;
  return {
    name: `definition: ${name}`,
    path: DEFINITIONS,
    body: () =>
      JSON.stringify({
        metadata: { name: `${plural}.hostile.example.com` },
        spec: {
          group: "hostile.example.com",
          scope: "Namespaced",
          names: { plural, kind: plural[0]?.toUpperCase() + plural.slice(1) },
          versions: [
            {
              name: "v1",
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: "object", properties: { spec: schema() } } },
              ...more(),
            },
          ],
        },
      }),
  };
};

/** Definitions of custom resources. */
export const DEFINITION_BODIES: readonly HostileBody[] = [
  definition("a pattern of a MiB", () => ({ type: "string", pattern: "a?".repeat(MEBIBYTE / 2) })),
  definition("a pattern that repeats", () => ({ type: "string", pattern: "((a{1,100}){1,10}){1,1}".repeat(1_000) })),
  definition("a pattern of classes", () => ({ type: "string", pattern: "[\\p{L}\\d_-]{1,900}".repeat(100) })),
  definition("a pattern of parentheses", () => ({
    type: "string",
    pattern: "(".repeat(100_000) + ")".repeat(100_000),
  })),
  definition("patterns", () => ({
    type: "object",
    properties: Object.fromEntries(
      list(10_000, () => ({})).map((_, i) => [`p${i}`, { type: "string", pattern: `^[a-z]{1,63}${i}$` }]),
    ),
  })),
  definition("a deep schema", () =>
    nested(2_000, { type: "string" }, (inner) => ({ type: "object", properties: { a: inner } })),
  ),
  definition("deep lists", () => nested(2_000, { type: "string" }, (inner) => ({ type: "array", items: inner }))),
  definition("deep conditions", () => ({ type: "object", ...nested(2_000, {}, (inner) => ({ not: inner })) })),
  definition("fields", () => ({
    type: "object",
    properties: Object.fromEntries(list(40_000, () => ({})).map((_, i) => [`p${i}`, { type: "string" }])),
  })),
  definition("bad fields", () => ({
    type: "object",
    properties: Object.fromEntries(list(40_000, () => ({})).map((_, i) => [`p${i}`, { pattern: "(" }])),
  })),
  definition("values", () => ({ type: "string", enum: list(150_000, () => ({})).map((_, i) => `v${i}`) })),
  definition("values that are objects", () => ({ type: "object", enum: list(20_000, (i) => ({ a: i })) })),
  definition("required fields", () => ({ type: "object", required: list(100_000, () => ({})).map((_, i) => `v${i}`) })),
  definition("alternatives", () => ({
    type: "object",
    properties: { a: { type: "string" } },
    anyOf: list(20_000, () => ({ properties: { a: { pattern: "a" } } })),
  })),
  definition("keys of a list", () => ({
    type: "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": list(20_000, () => ({})).map((_, i) => `p${i}`),
    items: {
      type: "object",
      properties: Object.fromEntries(list(20_000, () => ({})).map((_, i) => [`p${i}`, { type: "string" }])),
    },
  })),
  definition(
    "columns",
    () => ({ type: "object" }),
    () => ({
      additionalPrinterColumns: list(10_000, (i) => ({ name: `c${i}`, type: "string", jsonPath: `.spec.a${i}` })),
    }),
  ),
  definition("a default of a MiB", () => ({
    type: "object",
    "x-kubernetes-preserve-unknown-fields": true,
    default: Object.fromEntries(list(60_000, () => ({})).map((_, i) => [`p${i}`, i])),
  })),
  {
    name: "definition: versions",
    path: DEFINITIONS,
    body: () =>
      JSON.stringify({
        metadata: { name: "versions.hostile.example.com" },
        spec: {
          group: "hostile.example.com",
          scope: "Namespaced",
          names: {
            plural: "versions",
            kind: "Version",
            shortNames: list(20_000, () => ({})).map((_, i) => `s${i}`),
            categories: list(20_000, () => ({})).map((_, i) => `c${i}`),
          },
          versions: list(5_000, (i) => ({
            name: `v${i + 1}`,
            served: true,
            storage: i === 0,
            schema: { openAPIV3Schema: { type: "object" } },
          })),
        },
      }),
  },
];
