import { isKubeObject, type KubeObject, typed } from "../../../src/api/object.ts";
import { CRD_KIND } from "../../../src/control-plane/custom/crd-kind.ts";
import { computeCrdStatus } from "../../../src/control-plane/custom/crd-status.ts";
import { customKinds } from "../../../src/control-plane/custom/custom-kinds.ts";
import type { ResourceKind } from "../../../src/control-plane/ports/resource-kind.ts";
import { promise, type Target } from "../target.ts";
import { jsonOf, PART, partsOf } from "./parts.ts";
import { JSON_WORDS } from "./words.ts";

const SCHEMA = {
  type: "object",
  required: ["spec"],
  properties: {
    spec: {
      type: "object",
      properties: {
        cronSpec: { type: "string", pattern: "^(\\d+|\\*)(/\\d+)?$", maxLength: 20 },
        replicas: { type: "integer", minimum: 1, maximum: 10, default: 1, multipleOf: 1 },
        color: { type: "string", enum: ["red", "green"] },
        port: { "x-kubernetes-int-or-string": true },
        labels: { type: "object", additionalProperties: { type: "string" }, maxProperties: 3 },
        hosts: { type: "array", items: { type: "string", format: "hostname" }, "x-kubernetes-list-type": "set" },
        steps: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
        },
        either: { anyOf: [{ required: ["a"] }, { required: ["b"] }], type: "object", properties: { a: {}, b: {} } },
        object: {
          type: "object",
          "x-kubernetes-embedded-resource": true,
          "x-kubernetes-preserve-unknown-fields": true,
        },
      },
    },
  },
};
const definition = (schema: object, more: object = {}) => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    scope: "Namespaced",
    names: { plural: "crontabs", kind: "CronTab" },
    versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
  },
});
const OBJECT = {
  apiVersion: "stable.example.com/v1",
  kind: "CronTab",
  metadata: { name: "a" },
  spec: {
    ...{ cronSpec: "*/5", replicas: 3, color: "red", port: "80", labels: { a: "b" }, hosts: ["a", "b"] },
    ...{ steps: [{ name: "a" }], either: { a: 1 }, object: { apiVersion: "v1", kind: "Pod", metadata: { name: "x" } } },
  },
};
const COLUMNS = {
  additionalPrinterColumns: [{ name: "A", type: "integer", jsonPath: ".spec.replicas" }],
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
};
const WORDS = [
  ...['"properties":{', '"items":{', '"additionalProperties":', '"pattern":"(a|b)*$"', '"format":"date-time"'],
  ...['"x-kubernetes-preserve-unknown-fields":true', '"x-kubernetes-int-or-string":true', '"nullable":true', '"not":{'],
  ...['"allOf":[', '"oneOf":[', '"default":', '"uniqueItems":false', '"multipleOf":0', '"minimum":', '"enum":['],
  ...['"type":"object"', '"type":"array"', '"type":"string"', "(a*)*", "\\\\p{L}", "{1,1000}", "$ref"],
];

/** Definitions of custom resources, and an object of the kind that one defines. */
export const customSchemasTarget: Target = {
  name: "custom-schemas",
  runs: 6_400,
  seeds: [definition(SCHEMA), definition(SCHEMA, COLUMNS)].map(
    (crd) => `${JSON.stringify(crd)}${PART}${JSON.stringify(OBJECT)}`,
  ),
  words: [...WORDS, ...JSON_WORDS],
  setUp: async () => ({
    run(input) {
      const [crdText, objectText] = partsOf(input, 2);
      const crd = take(CRD_KIND, jsonOf(crdText));
      if (crd === undefined || !isKubeObject(crd)) return;
      const definition = typed("CustomResourceDefinition", crd);
      const status = computeCrdStatus(definition, [], 0);
      for (const kind of customKinds({ ...definition, status })) {
        const object = take(kind, jsonOf(objectText));
        if (object === undefined) continue;
        const again = take(kind, object);
        promise(JSON.stringify(again) === JSON.stringify(object), "what was taken is not taken as it is");
      }
    },
  }),
};

/** What a create makes of the value; undefined when it refuses it. */
function take({ group, version, kind, schema, strategy }: ResourceKind, value: unknown): KubeObject | undefined {
  // The registry looks at these first.
  if (!isKubeObject(value) || value.apiVersion !== `${group}/${version}` || value.kind !== kind) return undefined;
  const decoded = schema.decode(value);
  if (decoded.errors.length > 0 || !isKubeObject(decoded.value)) return undefined;
  const defaulted = strategy.default?.(decoded.value) ?? decoded.value;
  const prepared = strategy.prepareCreate?.(defaulted) ?? defaulted;
  const problems = strategy.validate?.(prepared) ?? [];
  return problems.length === 0 ? prepared : undefined;
}
