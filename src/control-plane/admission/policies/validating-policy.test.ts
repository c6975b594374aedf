import { describe, expect, it } from "vitest";
import { isApiError } from "../../../api/api-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import { readerOf, requestFor } from "../__fixtures__/admission-bench.ts";
import { createValidatingPolicy } from "./validating-policy.ts";

const RULE = { operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], scope: "*" };

function policy(spec: Record<string, unknown>, uid = "p"): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: "rule", uid, generation: 1 },
    spec: { failurePolicy: "Fail", matchConstraints: { resourceRules: [RULE] }, ...spec },
  };
}

function binding(spec: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: "bound" },
    spec: { policyName: "rule", validationActions: ["Deny"], ...spec },
  };
}

const NAMESPACE: KubeObject = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: "a", labels: { env: "test" }, creationTimestamp: "2024-01-01T00:00:00Z" },
};
const pod = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "a", labels },
});
const settings = (name: string, max: string): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "a", labels: { for: "rule" } },
  data: { max },
});

interface Case {
  readonly spec: Record<string, unknown>;
  readonly bind?: Record<string, unknown>;
  readonly target?: string;
  readonly request?: Partial<Omit<AdmissionRequest, "kind" | "subresource">>;
}

/** What the policy says to the request: the message of the refusal, or the warnings. */
function judge({ spec, bind, target = "pods", request = {} }: Case) {
  const reader = readerOf({
    namespaces: [NAMESPACE],
    configmaps: [settings("few", "1"), settings("many", "5")],
    "validatingadmissionpolicies.admissionregistration.k8s.io": [policy(spec)],
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": [binding(bind)],
  });
  const plugin = createValidatingPolicy({
    reader,
    authorize: (attributes) => ({ allowed: "resource" in attributes && attributes.verb === "get", reason: "" }),
    viewsOf: (kind) => [kind, { ...kind, version: "v2" }],
    resolveKind: (_version, kind) => (kind === "ConfigMap" ? { resource: "configmaps", namespaced: true } : undefined),
  });
  const warnings: string[] = [];
  const object = pod("x", { app: "web" });
  const asked = requestFor(target, {
    object,
    namespace: "a",
    name: "x",
    ...request,
    warn: (text) => warnings.push(text),
  });
  try {
    plugin.validate?.(asked);
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { code: error.code, message: error.message.replace(/^.*denied request: /, ""), warnings };
  }
  return { code: 200, message: "", warnings };
}

const check = (expression: string, more: Record<string, unknown> = {}): Case => ({
  spec: { validations: [{ expression }], ...more },
});
const REFUSED = { validations: [{ expression: "false", message: "no" }] };

describe("an expression", () => {
  it.each([
    "object.metadata.name == 'x' && oldObject == null",
    "request.operation == 'CREATE' && request.namespace == 'a' && request.resource.resource == 'pods'",
    "request.userInfo.username != '' && !request.dryRun",
    "namespaceObject.metadata.labels.env == 'test'",
    "namespaceObject.metadata.creationTimestamp < timestamp('2025-01-01T00:00:00Z')",
    "authorizer.group('').resource('pods').check('get').allowed()",
    "!authorizer.requestResource.check('delete').allowed()",
    "object.?spec.?replicas.orValue(1) == 1",
  ])("lets pass what it says yes to: %s", (expression) => {
    expect(judge(check(expression))).toMatchObject({ code: 200 });
  });

  it("refuses with upstream's words, and the code of its reason", () => {
    const spec = { validations: [{ expression: "object.metadata.name == 'y'", reason: "Forbidden" }] };
    expect(judge({ spec })).toEqual({
      code: 403,
      message: "failed expression: object.metadata.name == 'y'",
      warnings: [],
    });
    expect(judge({ spec: REFUSED })).toMatchObject({ code: 422, message: "no" });
  });

  it("makes its message from the object, or falls back", () => {
    const say = (messageExpression: string) =>
      judge({ spec: { validations: [{ expression: "false", message: "no", messageExpression }] } }).message;
    expect(say("object.metadata.name + ' is wrong'")).toBe("x is wrong");
    expect(say("string(object.missing)")).toBe("no");
  });

  it("reads variables, each of which may read those before it", () => {
    const variables = [
      { name: "name", expression: "object.metadata.name" },
      { name: "isX", expression: "variables.name == 'x'" },
    ];
    expect(judge(check("!variables.isX", { variables }))).toMatchObject({ code: 422 });
    expect(judge(check("variables.isX", { variables }))).toMatchObject({ code: 200 });
    const broken = [{ name: "name", expression: "object.missing" }];
    expect(judge(check("variables.name == 1", { variables: broken })).message).toContain(
      'composited variable "name" fails to evaluate: no such key: missing',
    );
  });
});

describe("an error of the policy", () => {
  const broken = "object.missing == 1";

  it("refuses the request, or not, as the policy says", () => {
    expect(judge(check(broken)).message).toBe(`expression '${broken}' resulted in error: no such key: missing`);
    expect(judge(check(broken, { failurePolicy: "Ignore" }))).toMatchObject({ code: 200 });
  });

  it("does not keep an expression from refusing", () => {
    const validations = [{ expression: broken }, { expression: "false" }];
    expect(judge({ spec: { failurePolicy: "Ignore", validations } }).message).toBe("failed expression: false");
  });
});

describe("what the policy is about", () => {
  const rules = (rule: Record<string, unknown>, more: Record<string, unknown> = {}): Case => ({
    spec: { ...REFUSED, matchConstraints: { resourceRules: [{ ...RULE, ...rule }], ...more } },
  });

  it.each([
    ["the resource", rules({ resources: ["pods"] }), 422],
    ["another resource", rules({ resources: ["secrets"] }), 200],
    ["a subresource", { ...rules({ resources: ["pods/status"] }), target: "pods/status" }, 422],
    ["a subresource that is not named", { ...rules({ resources: ["pods"] }), target: "pods/status" }, 200],
    ["another operation", rules({ operations: ["DELETE"] }), 200],
    ["another group", rules({ apiGroups: ["apps"] }), 200],
    ["another version of the resource", rules({ apiVersions: ["v2"] }), 422],
    ["a version that the resource does not have", rules({ apiVersions: ["v3"] }), 200],
    ["exactly another version", rules({ apiVersions: ["v2"] }, { matchPolicy: "Exact" }), 200],
    ["objects of the cluster", rules({ scope: "Cluster" }), 200],
    ["another name", rules({ resourceNames: ["y"] }), 200],
    ["labels of the object", rules({}, { objectSelector: { matchLabels: { app: "web" } } }), 422],
    ["other labels", rules({}, { objectSelector: { matchLabels: { app: "db" } } }), 200],
    ["labels of the namespace", rules({}, { namespaceSelector: { matchLabels: { env: "test" } } }), 422],
    ["other namespaces", rules({}, { namespaceSelector: { matchLabels: { env: "prod" } } }), 200],
    ["everything but the resource", rules({}, { excludeResourceRules: [{ ...RULE, resources: ["pods"] }] }), 200],
    [
      "a binding for other namespaces",
      { spec: REFUSED, bind: { matchResources: { namespaceSelector: { matchLabels: { env: "prod" } } } } },
      200,
    ],
    ["a policy itself", { spec: REFUSED, target: "validatingadmissionpolicies.admissionregistration.k8s.io" }, 200],
  ] satisfies Array<[string, Case, number]>)("%s", (_name, asked, code) => {
    expect(judge(asked)).toMatchObject({ code });
  });

  it("is narrowed by conditions, of which an error counts when none is false", () => {
    const when = (...expressions: string[]) => {
      const matchConditions = expressions.map((expression, index) => ({ name: `c${index}`, expression }));
      return judge({ spec: { ...REFUSED, matchConditions } }).message;
    };
    expect(when("request.name == 'x'")).toBe("no");
    expect(when("object.missing == 1", "request.name == 'y'")).toBe("");
    expect(when("object.missing == 1")).toContain("resulted in error: no such key: missing");
  });
});

describe("parameters", () => {
  const limited = (paramRef: Record<string, unknown>): Case => ({
    spec: {
      paramKind: { apiVersion: "v1", kind: "ConfigMap" },
      validations: [
        { expression: "int(params.data.max) >= 3", messageExpression: "params.metadata.name + ' allows less'" },
      ],
    },
    bind: { paramRef: { parameterNotFoundAction: "Deny", ...paramRef } },
  });

  it("are found by name or labels, and all of them are asked", () => {
    expect(judge(limited({ name: "many" }))).toMatchObject({ code: 200 });
    expect(judge(limited({ name: "few" })).message).toBe("few allows less");
    expect(judge(limited({ selector: { matchLabels: { for: "rule" } } })).message).toBe("few allows less");
  });

  it("that are missing refuse the request, or let it pass", () => {
    expect(judge(limited({ name: "none" })).message).toContain("no params found for policy binding with `Deny`");
    expect(judge(limited({ name: "none", parameterNotFoundAction: "Allow" }))).toMatchObject({ code: 200 });
  });
});

it("warns instead of refusing where the binding says so", () => {
  expect(judge({ spec: REFUSED, bind: { validationActions: ["Warn", "Audit"] } })).toEqual({
    code: 200,
    message: "",
    warnings: ["Validation failed for ValidatingAdmissionPolicy 'rule' with binding 'bound': no"],
  });
});
