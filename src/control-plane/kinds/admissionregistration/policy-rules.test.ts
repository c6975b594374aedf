import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import { ADMISSION_POLICY_KINDS } from "./policy-kinds.ts";

const [MUTATING, MUTATING_BINDING, POLICY, BINDING] = ADMISSION_POLICY_KINDS;

function problemsOf(kind: typeof POLICY, spec: Record<string, unknown>): string[] {
  const object = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: kind?.kind ?? "",
    metadata: { name: "x" },
    spec,
  };
  const defaulted = kind?.strategy.default?.(object) ?? object;
  return kind?.strategy.validate?.(defaulted).map(formatFieldError) ?? [];
}

const RULE = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const RIGHT = { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: "object.a == 1" }] };

it.each<[Record<string, unknown>, string | undefined]>([
  [{}, undefined],
  [{ failurePolicy: "Never" }, "spec.failurePolicy: Unsupported value"],
  [{ matchConstraints: undefined }, "spec.matchConstraints: Required value"],
  [
    { matchConstraints: { resourceRules: [{ ...RULE, operations: [] }] } },
    "resourceRules[0].operations: Required value",
  ],
  [{ matchConstraints: { resourceRules: [{ ...RULE, apiGroups: ["*", "a"] }] } }, "if '*' is present"],
  [{ validations: [] }, "validations or auditAnnotations must contain at least one item"],
  [
    { validations: [{ expression: " " }] },
    "spec.validations[0].expression: Required value: expression is not specified",
  ],
  [{ validations: [{ expression: "object.a" }] }, "must evaluate to bool"],
  [
    { validations: [{ expression: "missing == 1" }] },
    "compilation failed: ERROR: <input>:1:1: undeclared reference to 'missing'",
  ],
  [{ validations: [{ expression: "params.a == 1" }] }, "undeclared reference to 'params'"],
  [{ validations: [{ expression: "params.a == 1" }], paramKind: { apiVersion: "v1", kind: "ConfigMap" } }, undefined],
  [
    { validations: [{ expression: "true", messageExpression: "authorizer.x" }] },
    "undeclared reference to 'authorizer'",
  ],
  [{ variables: [{ name: "a-b", expression: "1" }] }, "must be a valid CEL identifier"],
  [
    { matchConditions: [{ name: "a", expression: "variables.a" }], variables: [{ name: "a", expression: "true" }] },
    "undeclared reference to 'variables'",
  ],
  [{ auditAnnotations: [{ key: "a", valueExpression: "1" }] }, "must evaluate to one of [string null_type]"],
  [{ paramKind: { apiVersion: "a/b/c", kind: "K" } }, "unexpected GroupVersion string"],
])("a policy with %j", (change, problem) => {
  const found = problemsOf(POLICY, { ...RIGHT, ...change });
  if (problem === undefined) expect(found).toEqual([]);
  else expect(found.join()).toContain(problem);
});

it.each<[Record<string, unknown>, string | undefined]>([
  [{}, undefined],
  [{ policyName: "" }, "spec.policyName: Required value"],
  [{ validationActions: [] }, "spec.validationActions: Required value: at least one validation action is required"],
  [{ validationActions: ["Deny", "Warn"] }, "must not contain both Deny and Warn"],
  [{ paramRef: { parameterNotFoundAction: "Deny" } }, "one of name or selector must be specified"],
  [{ paramRef: { name: "a" } }, "spec.paramRef.parameterNotFoundAction: Required value"],
])("a binding with %j", (change, problem) => {
  const found = problemsOf(BINDING, { policyName: "a", validationActions: ["Deny"], ...change });
  if (problem === undefined) expect(found).toEqual([]);
  else expect(found.join()).toContain(problem);
});

const applying = (expression: string) => ({ patchType: "ApplyConfiguration", applyConfiguration: { expression } });
const patching = (expression: string) => ({ patchType: "JSONPatch", jsonPatch: { expression } });

it.each<[Record<string, unknown>, string | undefined]>([
  [{}, undefined],
  [{ mutations: [patching("[JSONPatch{op: 'add', path: '/a/' + jsonpatch.escapeKey('b/c'), value: 1}]")] }, undefined],
  [{ reinvocationPolicy: undefined }, "spec.reinvocationPolicy: Required value"],
  [{ reinvocationPolicy: "Always" }, 'spec.reinvocationPolicy: Unsupported value: "Always"'],
  [{ mutations: [] }, "spec.mutations: Required value: mutations must contain at least one item"],
  [{ mutations: [{ patchType: "Merge" }] }, 'spec.mutations[0].patchType: Unsupported value: "Merge"'],
  [
    { mutations: [{ patchType: "JSONPatch" }] },
    "spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch",
  ],
  [
    { mutations: [{ ...applying("Object{}"), ...patching("[]"), patchType: "ApplyConfiguration" }] },
    'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
  ],
  [{ mutations: [applying(" ")] }, "spec.mutations[0].applyConfiguration.expression: Required value"],
  [{ mutations: [applying("Object.spec{a: 1}")] }, "must evaluate to Object but got Object.spec"],
  [{ mutations: [patching("Object{}")] }, "must evaluate to list(JSONPatch) but got Object"],
  [
    { mutations: [patching("[JSONPatch{op: 1}]")] },
    "expected type of field 'op' is 'string' but provided type is 'int'",
  ],
  [{ mutations: [applying("Wrong{}")] }, "<input>:1:6: undeclared reference to 'Wrong' (in container '')"],
  [
    { matchConstraints: { resourceRules: [{ ...RULE, operations: ["DELETE"] }] } },
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE"',
  ],
])("a policy that mutates with %j", (change, problem) => {
  const mutations = [applying("Object{metadata: Object.metadata{labels: {'a': 'b'}}}")];
  const { validations: _none, ...right } = RIGHT;
  const found = problemsOf(MUTATING, { ...right, reinvocationPolicy: "Never", mutations, ...change });
  if (problem === undefined) expect(found).toEqual([]);
  else expect(found.join()).toContain(problem);
});

it("a binding of a policy that mutates is about no deletions", () => {
  const matchResources = { resourceRules: [{ ...RULE, operations: ["DELETE"] }] };
  expect(problemsOf(MUTATING_BINDING, { policyName: "a" })).toEqual([]);
  expect(problemsOf(MUTATING_BINDING, { policyName: "a", matchResources }).join()).toContain(
    'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE"',
  );
});
