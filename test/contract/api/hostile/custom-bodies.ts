import { type HostileBody, list, MEBIBYTE, NAMED, nested } from "./hostile-body.ts";

const custom = (plural: string, name: string, spec: () => unknown): HostileBody => ({
  name: `custom: ${name}`,
  path: `/apis/shapes.example.com/v1/namespaces/default/${plural}`,
  body: () => JSON.stringify({ apiVersion: "shapes.example.com/v1", kind: "Shape", metadata: NAMED, spec: spec() }),
});

/** What `CUSTOM` needs, to be created first. */
export const SHAPES = {
  metadata: { name: "shapes.shapes.example.com" },
  spec: {
    group: "shapes.example.com",
    scope: "Namespaced",
    names: { plural: "shapes", kind: "Shape" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
                  map: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, value: { type: "string", default: "a" } },
                    },
                  },
                  text: { type: "string", pattern: "^(([a-z]+[0-9]*)+[.-]?)*$" },
                  texts: {
                    type: "array",
                    items: {
                      type: "string",
                      pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
                    },
                  },
                  choice: {
                    type: "array",
                    items: { type: "string", enum: list(1_000, () => ({})).map((_, i) => `v${i}`) },
                  },
                  raw: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  time: { type: "array", items: { type: "string", format: "date-time" } },
                  email: { type: "array", items: { type: "string", format: "email" } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Objects of the kind that `SHAPES` defines. */
export const CUSTOM_BODIES: readonly HostileBody[] = [
  custom("shapes", "a set", () => ({ set: list(100_000, () => ({})).map((_, i) => `v${i}`) })),
  custom("shapes", "a set of one value", () => ({ set: list(100_000, () => ({})).map(() => "v") })),
  custom("shapes", "a map", () => ({ map: list(50_000, (i) => ({ name: `v${i}` })) })),
  custom("shapes", "a map of one key", () => ({ map: list(50_000, () => ({ name: "v" })) })),
  custom("shapes", "a map without keys", () => ({ map: list(50_000, () => ({})) })),
  custom("shapes", "text against a pattern", () => ({ text: "a".repeat(MEBIBYTE) })),
  custom("shapes", "text against a pattern, in vain", () => ({ text: `${"a1-".repeat(MEBIBYTE / 3)}!` })),
  custom("shapes", "texts against a pattern", () => ({ texts: list(60_000, () => ({})).map((_, i) => `a-${i}.b`) })),
  custom("shapes", "choices that are none", () => ({ choice: list(100_000, () => ({})).map((_, i) => `w${i}`) })),
  custom("shapes", "unknown fields", () => Object.fromEntries(list(150_000, () => ({})).map((_, i) => [`p${i}`, i]))),
  custom("shapes", "raw fields", () => ({
    raw: Object.fromEntries(list(100_000, () => ({})).map((_, i) => [`p${i}`, i])),
  })),
  custom("shapes", "raw depth", () => ({ raw: nested(4_000, {}, (inner) => ({ a: inner })) })),
  custom("shapes", "times", () => ({ time: list(60_000, () => ({})).map(() => "2024-01-01T00:00:00Z") })),
  custom("shapes", "addresses of mail", () => ({ email: list(10, () => ({})).map(() => `${"a.".repeat(40_000)}@`) })),
];
