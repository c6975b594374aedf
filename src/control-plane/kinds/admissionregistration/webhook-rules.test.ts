import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import { type AnyWebhook, validateWebhooks } from "./webhook-rules.ts";

const webhook = (fields: Partial<AnyWebhook> = {}): AnyWebhook => ({
  name: "a.example.com",
  clientConfig: { url: "https://example.com/hook" },
  rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...fields,
});
const ruleOf = (resources: string[], fields = {}) => ({
  rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources, ...fields }],
});
const service = (fields: object) => ({ clientConfig: { service: { name: "s", namespace: "n", ...fields } } });

it.each<[string, Partial<AnyWebhook>, string[]]>([
  ["may be whole", {}, []],
  ["may be at a service", service({ path: "/a/b", port: 8443 }), []],
  [
    "has a name of a domain",
    { name: "a.b" },
    ['name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
  ],
  ["is somewhere", { clientConfig: {} }, ["clientConfig: Required value: exactly one of url or service is required"]],
  [
    "is asked over TLS",
    { clientConfig: { url: "http://example.com" } },
    [
      `clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme; desired format: https://host[/path]`,
    ],
  ],
  [
    "is at no path with a query",
    { clientConfig: { url: "https://u:p@example.com/?a=b#c" } },
    [
      'clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
      'clientConfig.url: Invalid value: "c": fragments are not permitted in the URL',
      'clientConfig.url: Invalid value: "a=b": query parameters are not permitted in the URL',
    ],
  ],
  [
    "has a whole path",
    service({ path: "a//b" }),
    [
      `clientConfig.service.path: Invalid value: "a//b": must start with a '/'`,
      'clientConfig.service.path: Invalid value: "a//b": segment[0] may not be empty',
      'clientConfig.service.path: Invalid value: "a//b": segment[1] may not be empty',
    ],
  ],
  [
    "has a port",
    service({ port: 65_536 }),
    ["clientConfig.service.port: Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive"],
  ],
  [
    "has no side effects",
    { sideEffects: "Some" },
    ['sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  ],
  [
    "takes half a minute at most",
    { timeoutSeconds: 31 },
    ["timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  ],
  [
    "speaks a version",
    { admissionReviewVersions: [] },
    ["admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
  ],
  [
    "speaks a version that we speak",
    { admissionReviewVersions: ["v9"] },
    ['admissionReviewVersions: Invalid value: ["v9"]: must include at least one of v1, v1beta1'],
  ],
  ["may speak the older version alone", { admissionReviewVersions: ["v9", "v1beta1"] }, []],
  [
    "has conditions with names",
    { matchConditions: [{ name: "", expression: "true" }] },
    ["matchConditions[0].name: Required value"],
  ],
  [
    "has conditions that compile",
    { matchConditions: [{ name: "a", expression: "params.x" }] },
    [
      "matchConditions[0].expression: Invalid value: \"params.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params.x\n | ^",
    ],
  ],
  [
    "has conditions that are true or false",
    {
      matchConditions: [
        { name: "a", expression: "request.name == ''" },
        { name: "b", expression: "'x'" },
      ],
    },
    ["matchConditions[1].expression: Invalid value: \"'x'\": must evaluate to bool but got string"],
  ],
  [
    "fails or is ignored",
    { failurePolicy: "Maybe" },
    ['failurePolicy: Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
  ],
  ["names resources", ruleOf([]), ["rules[0].resources: Required value"]],
  [
    "names no resource beside all",
    ruleOf(["*", "pods"]),
    [
      `rules[0].resources: Invalid value: ["*","pods"]: if '*' is present, must not specify other resources without subresources`,
    ],
  ],
  [
    "names no subresource beside all",
    ruleOf(["pods/*", "pods/status"]),
    [`rules[0].resources[1]: Invalid value: "pods/status": if 'pods/*' is present, must not specify pods/status`],
  ],
  [
    "names operations",
    ruleOf(["pods"], { operations: ["*", "READ"] }),
    [
      `rules[0].operations: Invalid value: ["*","READ"]: if '*' is present, must not specify other operations`,
      'rules[0].operations[1]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
  ],
])("a webhook %s", (_name, fields, problems) => {
  const errors = validateWebhooks([webhook(fields)]).map(formatFieldError);
  expect(errors).toEqual(problems.map((problem) => `webhooks[0].${problem}`));
});

it("the webhooks of one configuration have different names", () => {
  expect(validateWebhooks([webhook(), webhook()]).map(formatFieldError)).toEqual([
    'webhooks[1].name: Duplicate value: "a.example.com"',
  ]);
});
