import type { FieldError } from "../../../api/field-error.ts";
import type {
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
} from "../../../api/gen/types.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDns1035Label, checkDnsSubdomain, checkQualifiedName } from "../../../api/validation/names.ts";
import {
  duplicate,
  each,
  forbidden,
  invalid,
  invalidEach,
  oneOf,
  optionalOneOf,
  required,
} from "../../../api/validation/problems.ts";
import { compilePolicy } from "../../cel/policies/compile-policy.ts";
import { validateMatchConditions } from "./match-conditions.ts";

const FAILURE_POLICIES = ["Fail", "Ignore"];
const MATCH_POLICIES = ["Equivalent", "Exact"];
const REASONS = ["Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"];
const ACTIONS = ["Audit", "Deny", "Warn"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const MAX_AUDIT_ANNOTATIONS = 20;
const MAX_VALUE_EXPRESSION = 5 * 1024;
/** All expressions of a policy are compiled in one turn, so that their number and length have a bound. */
const MAX_EXPRESSIONS = 1_000;
const MAX_CHARACTERS = 256 * 1024;

/** What is wrong with a policy, its expressions included. */
export function validatePolicy({ metadata, spec = {} }: ValidatingAdmissionPolicy): FieldError[] {
  const { failurePolicy, paramKind, matchConstraints, matchConditions, variables } = spec;
  const errors = oneOf("spec.failurePolicy", failurePolicy, FAILURE_POLICIES);
  if (paramKind) errors.push(...checkParamKind(paramKind));
  if (!matchConstraints) errors.push(required("spec.matchConstraints"));
  else {
    errors.push(...checkResources("spec.matchConstraints", matchConstraints));
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(required("spec.matchConstraints.resourceRules"));
    }
  }
  errors.push(
    ...validateMatchConditions("spec.matchConditions", matchConditions),
    ...each("spec.variables", variables, checkVariable),
    ...checkValidations(spec),
    ...checkAnnotations(metadata?.name ?? "", spec),
  );
  return [...errors, ...checkExpressions(spec)];
}

/** Expressions that are there, and not too many of them, must compile. */
function checkExpressions(spec: ValidatingAdmissionPolicySpec): FieldError[] {
  const { matchConditions = [], variables = [], validations = [], auditAnnotations = [] } = spec;
  const texts = [
    ...matchConditions.map(({ expression }) => expression),
    ...variables.map(({ expression }) => expression),
    ...validations.flatMap(({ expression, messageExpression = "" }) => [expression, messageExpression]),
    ...auditAnnotations.map(({ valueExpression }) => valueExpression),
  ];
  const size = texts.reduce((sum, text) => sum + text.length, 0);
  if (texts.length > MAX_EXPRESSIONS || size > MAX_CHARACTERS) {
    const problem = `it has more than ${MAX_EXPRESSIONS} expressions or ${MAX_CHARACTERS} characters of them`;
    return [invalid("spec", "", problem)];
  }
  // An empty expression is told by itself.
  return compilePolicy(spec).problems.filter(({ message }) => !message.startsWith('Invalid value: "":'));
}

function checkVariable({ name, expression }: { name: string; expression: string }, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(required(`${path}.name`, "name is not specified"));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
    errors.push(invalid(`${path}.name`, name, "must be a valid CEL identifier"));
  }
  if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
  return errors;
}

function checkValidations({ validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec): FieldError[] {
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = "validations or auditAnnotations must contain at least one item";
    return [required("spec.validations", detail), required("spec.auditAnnotations", detail)];
  }
  return each("spec.validations", validations, ({ expression, message = "", messageExpression = "", reason }, path) => {
    const errors = optionalOneOf(`${path}.reason`, reason, REASONS);
    if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
    if (messageExpression !== "" && messageExpression.trim() === "") {
      errors.push(invalid(`${path}.messageExpression`, messageExpression, "must be non-empty if specified"));
    }
    if (message !== "" && message.trim() === "") {
      errors.push(invalid(`${path}.message`, message, "must be non-empty if specified"));
    } else if (/[\n\r]/.test(message.trim())) {
      errors.push(invalid(`${path}.message`, message, "must not contain line breaks"));
    }
    return errors;
  });
}

function checkAnnotations(name: string, { auditAnnotations = [] }: ValidatingAdmissionPolicySpec): FieldError[] {
  const path = "spec.auditAnnotations";
  const errors: FieldError[] = [];
  if (auditAnnotations.length > MAX_AUDIT_ANNOTATIONS) {
    const problem = `must not have more than ${MAX_AUDIT_ANNOTATIONS} auditAnnotations`;
    errors.push(invalid(path, auditAnnotations, problem));
  }
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of auditAnnotations.entries()) {
    const at = `${path}[${index}]`;
    errors.push(...invalidEach(`${at}.key`, `${name}/${key}`, checkQualifiedName(`${name}/${key}`)));
    if (valueExpression.trim() === "") {
      errors.push(required(`${at}.valueExpression`, "valueExpression is not specified"));
    } else if (Buffer.byteLength(valueExpression.trim()) > MAX_VALUE_EXPRESSION) {
      errors.push(required(`${at}.valueExpression`, `must not exceed ${MAX_VALUE_EXPRESSION} bytes in length`));
    }
    if (keys.has(key)) errors.push(duplicate(`${at}.key`, key));
    keys.add(key);
  }
  return errors;
}

function checkParamKind({ apiVersion = "", kind = "" }: ParamKind): FieldError[] {
  const errors: FieldError[] = [];
  const at = "spec.paramKind";
  const parts = apiVersion.split("/");
  const version = parts.at(-1) ?? "";
  if (apiVersion === "") errors.push(required(`${at}.apiVersion`));
  else if (parts.length > 2) {
    errors.push(invalid(`${at}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
  } else errors.push(...invalidEach(`${at}.apiVersion`, version, checkDns1035Label(version)));
  if (kind === "") errors.push(required(`${at}.kind`));
  else {
    const problems = checkDns1035Label(kind.toLowerCase());
    const detail = `may have mixed case, but should otherwise match: ${problems.join(",")}`;
    if (problems.length > 0) errors.push(invalid(`${at}.kind`, kind, detail));
  }
  return errors;
}

function checkResources(path: string, resources: MatchResources): FieldError[] {
  const { matchPolicy, namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = resources;
  return [
    ...oneOf(`${path}.matchPolicy`, matchPolicy, MATCH_POLICIES),
    ...validateLabelSelector(`${path}.namespaceSelector`, namespaceSelector),
    ...validateLabelSelector(`${path}.objectSelector`, objectSelector),
    ...each(`${path}.resourceRules`, resourceRules, checkRule),
    ...each(`${path}.excludeResourceRules`, excludeResourceRules, checkRule),
  ];
}

function checkRule(rule: NamedRuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope, resourceNames = [] } = rule;
  const names = new Set(resourceNames);
  return [
    ...(names.size < resourceNames.length ? [duplicate(`${path}.resourceNames`, resourceNames)] : []),
    ...checkWildcard(`${path}.operations`, operations),
    ...each(`${path}.operations`, operations, (operation, at) => oneOf(at, operation, OPERATIONS)),
    ...checkWildcard(`${path}.apiGroups`, apiGroups),
    ...checkWildcard(`${path}.apiVersions`, apiVersions),
    ...each(`${path}.apiVersions`, apiVersions, (version, at) => (version === "" ? [required(at)] : [])),
    ...(resources.length === 0 ? [required(`${path}.resources`)] : []),
    ...each(`${path}.resources`, resources, (resource, at) => (resource === "" ? [required(at)] : [])),
    ...optionalOneOf(`${path}.scope`, scope, SCOPES),
  ];
}

function checkWildcard(path: string, values: readonly string[]): FieldError[] {
  if (values.length === 0) return [required(path)];
  const isMixed = values.length > 1 && values.includes("*");
  return isMixed ? [invalid(path, values, "if '*' is present, must not specify other values")] : [];
}

/** What is wrong with the binding of a policy. */
export function validatePolicyBinding({ spec }: ValidatingAdmissionPolicyBinding): FieldError[] {
  const { policyName = "", paramRef, matchResources, validationActions = [] } = spec ?? {};
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : invalidEach("spec.policyName", policyName, checkDnsSubdomain(policyName))),
    ...(paramRef ? checkParamRef(paramRef) : []),
    ...(matchResources ? checkResources("spec.matchResources", matchResources) : []),
    ...checkActions(validationActions),
  ];
}

function checkParamRef({ name = "", selector, parameterNotFoundAction }: ParamRef): FieldError[] {
  const at = "spec.paramRef";
  const errors: FieldError[] = [];
  const exclusive = "name and selector are mutually exclusive";
  if (name !== "" && selector) errors.push(forbidden(`${at}.name`, exclusive), forbidden(`${at}.selector`, exclusive));
  if (name === "" && !selector) errors.push(required(at, "one of name or selector must be specified"));
  errors.push(...validateLabelSelector(`${at}.selector`, selector));
  return [...errors, ...oneOf(`${at}.parameterNotFoundAction`, parameterNotFoundAction, ["Allow", "Deny"])];
}

function checkActions(actions: readonly string[]): FieldError[] {
  const at = "spec.validationActions";
  if (actions.length === 0) return [required(at, "at least one validation action is required")];
  const errors = each(at, actions, (action, path) => [
    ...oneOf(path, action, ACTIONS),
    ...(actions.indexOf(action) === Number(/\d+/.exec(path)?.[0]) ? [] : [duplicate(path, action)]),
  ]);
  if (actions.includes("Deny") && actions.includes("Warn")) {
    errors.push(
      invalid(
        at,
        actions,
        "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
      ),
    );
  }
  return errors;
}
