import type { Target } from "../target.ts";
import { setUpRequests } from "./api-requests.ts";
import { JSON_WORDS } from "./words.ts";

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "crontabs.stable.example.com" },
  spec: {
    group: "stable.example.com",
    scope: "Namespaced",
    names: { plural: "crontabs", kind: "CronTab", shortNames: ["ct"], categories: ["all"] },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true, subresources: { status: {} } },
        additionalPrinterColumns: [{ name: "A", type: "string", jsonPath: ".spec.a" }],
        selectableFields: [{ jsonPath: ".spec.a" }],
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  a: { type: "string", pattern: "^(a|b)+$", default: "a" },
                  b: { type: "array", items: { type: "integer" }, maxItems: 3, "x-kubernetes-list-type": "set" },
                },
              },
            },
          },
        },
      },
    ],
  },
};
const WORDS = [
  ...[
    '"properties":{',
    '"items":{',
    '"additionalProperties":',
    '"pattern":"(a|b)*$"',
    '"format":"date-time"',
    '"not":{',
  ],
  ...[
    '"x-kubernetes-preserve-unknown-fields":true',
    '"x-kubernetes-embedded-resource":true',
    '"allOf":[{',
    '"default":',
  ],
  ...[
    '"type":"object"',
    '"type":"array"',
    "(a*)*",
    "(a{1,99}){1,99}",
    "\\\\p{L}",
    '"$ref":"#"',
    '"multipleOf":0',
    '"enum":[',
  ],
];

/** Definitions of custom resources as the API server takes them, as dry runs. */
export const crdsTarget: Target = {
  name: "crds",
  runs: 64,
  seeds: [
    `POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions\ncontent-type: application/json\n\n${JSON.stringify(DEFINITION)}`,
    `PATCH /apis/apiextensions.k8s.io/v1/customresourcedefinitions/crontabs.stable.example.com?fieldManager=m\ncontent-type: application/apply-patch+yaml\n\n${JSON.stringify(DEFINITION)}`,
  ],
  words: [...WORDS, ...JSON_WORDS],
  maxBytes: 64 * 1024,
  batch: 32,
  setUp: setUpRequests,
};
