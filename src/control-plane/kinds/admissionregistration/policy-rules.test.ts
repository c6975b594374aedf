import { expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import { VALIDATING_POLICY_KINDS } from "./validating-policies.ts";

const [POLICY, BINDING] = VALIDATING_POLICY_KINDS;

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
