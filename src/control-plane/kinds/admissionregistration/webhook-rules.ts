import type { FieldError } from "../../../api/field-error.ts";
import type { MatchCondition, MutatingWebhook, RuleWithOperations, ValidatingWebhook } from "../../../api/gen/types.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { checkDns1035Label, checkDnsSubdomain } from "../../../api/validation/names.ts";
import {
  duplicate,
  each,
  invalid,
  invalidEach,
  optionalOneOf,
  required,
  unsupported,
} from "../../../api/validation/problems.ts";
import { validateWebhookClient } from "../../../api/validation/webhook-client.ts";
import { compileMatchConditions } from "../../cel/policies/compile-policy.ts";
import { validateMatchConditions } from "./match-conditions.ts";

/** A webhook of either kind; only mutating ones have a policy of reinvocation. */
export type AnyWebhook = ValidatingWebhook & Pick<MutatingWebhook, "reinvocationPolicy">;

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const SIDE_EFFECTS = ["None", "NoneOnDryRun"];
/** All conditions of a webhook are compiled in one turn. */
const MAX_CHARACTERS = 64 * 1024;
/** The versions of AdmissionReview that are spoken. */
const REVIEW_VERSIONS = ["v1", "v1beta1"];

/** The problems of a configuration's webhooks, metadata apart. */
export function validateWebhooks(webhooks: readonly AnyWebhook[] | undefined): FieldError[] {
  const names = new Set<string>();
  return each("webhooks", webhooks, (webhook, path) => {
    const { name } = webhook;
    const isTwice = name !== "" && names.size === names.add(name).size;
    return [...validateWebhook(webhook, path), ...(isTwice ? [duplicate(`${path}.name`, name)] : [])];
  });
}

function validateWebhook(webhook: AnyWebhook, path: string): FieldError[] {
  const { name, rules, sideEffects, timeoutSeconds = 1 } = webhook;
  return [
    ...validateQualifiedName(`${path}.name`, name),
    ...each(`${path}.rules`, rules, validateRule),
    ...optionalOneOf(`${path}.failurePolicy`, webhook.failurePolicy, ["Fail", "Ignore"]),
    ...optionalOneOf(`${path}.matchPolicy`, webhook.matchPolicy, ["Equivalent", "Exact"]),
    ...optionalOneOf(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, ["IfNeeded", "Never"]),
    ...validateSideEffects(`${path}.sideEffects`, sideEffects),
    ...(timeoutSeconds >= 1 && timeoutSeconds <= 30
      ? []
      : [invalid(`${path}.timeoutSeconds`, timeoutSeconds, "the timeout value must be between 1 and 30 seconds")]),
    ...validateLabelSelector(`${path}.namespaceSelector`, webhook.namespaceSelector),
    ...validateLabelSelector(`${path}.objectSelector`, webhook.objectSelector),
    ...validateWebhookClient(`${path}.clientConfig`, webhook.clientConfig),
    ...validateConditions(`${path}.matchConditions`, webhook.matchConditions),
    ...validateReviewVersions(`${path}.admissionReviewVersions`, webhook.admissionReviewVersions),
  ];
}

function validateConditions(path: string, conditions: readonly MatchCondition[] | undefined = []): FieldError[] {
  const errors = validateMatchConditions(path, conditions);
  if (errors.length > 0) return errors;
  const size = conditions.reduce((sum, { expression }) => sum + expression.length, 0);
  if (size > MAX_CHARACTERS) {
    return [invalid(path, "", `the expressions have more than ${MAX_CHARACTERS} characters together`)];
  }
  return [...compileMatchConditions(conditions, path, false).problems];
}

function validateQualifiedName(path: string, name: string): FieldError[] {
  if (name === "") return [required(path)];
  const problems = checkDnsSubdomain(name);
  if (problems.length > 0) return [invalid(path, name, problems.join(","))];
  if (name.split(".").length >= 3) return [];
  return [invalid(path, name, "should be a domain with at least three segments separated by dots")];
}

function validateSideEffects(path: string, value = ""): FieldError[] {
  if (value === "") return [required(path, `must specify one of ${SIDE_EFFECTS.join(", ")}`)];
  return SIDE_EFFECTS.includes(value) ? [] : [unsupported(path, value, SIDE_EFFECTS)];
}

function validateReviewVersions(path: string, versions: readonly string[] | undefined = []): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(", ")}`)];
  const seen = new Set<string>();
  const errors = each(path, versions, (version, at) => {
    if (seen.size === seen.add(version).size) return [invalid(at, version, "duplicate version")];
    return invalidEach(at, version, checkDns1035Label(version));
  });
  if (!versions.some((version) => REVIEW_VERSIONS.includes(version))) {
    return [...errors, invalid(path, versions, `must include at least one of ${REVIEW_VERSIONS.join(", ")}`)];
  }
  return errors;
}

function validateRule(rule: RuleWithOperations, path: string): FieldError[] {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  return [
    ...validateWildcards(`${path}.operations`, operations, "operations"),
    ...each(`${path}.operations`, operations, (operation, at) => optionalOneOf(at, operation, OPERATIONS)),
    ...validateWildcards(`${path}.apiGroups`, apiGroups, "API groups"),
    ...validateWildcards(`${path}.apiVersions`, apiVersions, "API versions"),
    ...each(`${path}.apiVersions`, apiVersions, (version, at) => (version === "" ? [required(at)] : [])),
    ...validateResources(`${path}.resources`, resources),
    ...optionalOneOf(`${path}.scope`, scope, SCOPES),
  ];
}

/** The list has something in it, and `*` stands alone. */
function validateWildcards(path: string, values: readonly string[], what: string): FieldError[] {
  if (values.length === 0) return [required(path)];
  const isMixed = values.length > 1 && values.includes("*");
  return isMixed ? [invalid(path, values, `if '*' is present, must not specify other ${what}`)] : [];
}

/** Resources have subresources after a slash, and either may be `*`; what a wildcard covers is not named besides. */
function validateResources(path: string, resources: readonly string[]): FieldError[] {
  if (resources.length === 0) return [required(path)];
  const allOf = new Set<string>();
  const everywhere = new Set<string>();
  const errors = each(path, resources, (resource, at) => {
    if (resource === "") return [required(at)];
    const [name = "", subresource] = splitResource(resource);
    if (subresource === undefined) return [];
    const covered = [
      ...(allOf.has(name) ? [`${name}/*`] : []),
      ...(everywhere.has(subresource) ? [`*/${subresource}`] : []),
    ];
    if (subresource === "*") allOf.add(name);
    if (name === "*") everywhere.add(subresource);
    return covered.map((by) => invalid(at, resource, `if '${by}' is present, must not specify ${resource}`));
  });
  if (resources.length > 1 && resources.includes("*/*")) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  const hasPlain = resources.some((resource) => resource !== "*" && resource !== "" && !resource.includes("/"));
  if (resources.includes("*") && hasPlain) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, detail));
  }
  return errors;
}

function splitResource(resource: string): readonly [string, string | undefined] {
  const slash = resource.indexOf("/");
  return slash < 0 ? [resource, undefined] : [resource.slice(0, slash), resource.slice(slash + 1)];
}
