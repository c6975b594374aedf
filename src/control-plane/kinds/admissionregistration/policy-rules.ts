import type { FieldError } from "../../../api/field-error.ts";
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
  ParamKind,
  ParamRef,
  Variable,
} from "../../../api/gen/types.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDns1035Label, checkDnsSubdomain } from "../../../api/validation/names.ts";
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
import { validateMatchConditions } from "./match-conditions.ts";

const FAILURE_POLICIES = ["Fail", "Ignore"];
const MATCH_POLICIES = ["Equivalent", "Exact"];
const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
/** All expressions of a policy are compiled in one turn, so that their number and length have a bound. */
const MAX_EXPRESSIONS = 1_000;
const MAX_CHARACTERS = 256 * 1024;

interface PolicySpec {
  failurePolicy?: string;
  matchConditions?: MatchCondition[];
  matchConstraints?: MatchResources;
  paramKind?: ParamKind;
  variables?: Variable[];
}

/** What is wrong with the parts that policies of all kinds have, their expressions apart. */
export function validatePolicySpec(spec: PolicySpec): FieldError[] {
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
  return [
    ...errors,
    ...validateMatchConditions("spec.matchConditions", matchConditions),
    ...each("spec.variables", variables, checkVariable),
  ];
}

/** Expressions that are there, and not too many of them, must compile. `texts` are those that only the kind has. */
export function validateExpressions(
  { matchConditions = [], variables = [] }: PolicySpec,
  texts: readonly string[],
  compile: () => { readonly problems: readonly FieldError[] },
): FieldError[] {
  const all = [...[...matchConditions, ...variables].map(({ expression }) => expression), ...texts];
  const size = all.reduce((sum, text) => sum + text.length, 0);
  if (all.length > MAX_EXPRESSIONS || size > MAX_CHARACTERS) {
    const problem = `it has more than ${MAX_EXPRESSIONS} expressions or ${MAX_CHARACTERS} characters of them`;
    return [invalid("spec", "", problem)];
  }
  // An empty expression is told by itself.
  return compile().problems.filter(({ message }) => !message.startsWith('Invalid value: "":'));
}

function checkVariable({ name, expression }: Variable, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (name.trim() === "") errors.push(required(`${path}.name`, "name is not specified"));
  else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name)) {
    errors.push(invalid(`${path}.name`, name, "must be a valid CEL identifier"));
  }
  if (expression.trim() === "") errors.push(required(`${path}.expression`, "expression is not specified"));
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

interface BindingSpec {
  policyName?: string;
  paramRef?: ParamRef;
  matchResources?: MatchResources;
}

/** What is wrong with the parts that bindings of all kinds have. */
export function validateBindingSpec({ policyName = "", paramRef, matchResources }: BindingSpec): FieldError[] {
  return [
    ...(policyName === ""
      ? [required("spec.policyName")]
      : invalidEach("spec.policyName", policyName, checkDnsSubdomain(policyName))),
    ...(paramRef ? checkParamRef(paramRef) : []),
    ...(matchResources ? checkResources("spec.matchResources", matchResources) : []),
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
