import type { FieldError } from "../../../api/field-error.ts";
import type { ResourceQuotaSpec, ScopedResourceSelectorRequirement } from "../../../api/gen/types.ts";
import { typed } from "../../../api/object.ts";
import { compareQuantities } from "../../../api/quantity.ts";
import type { ResourceList } from "../../../api/resources.ts";
import { invalid, required } from "../../../api/validation/problems.ts";
import { defineKind } from "../define-kind.ts";
import { immutable } from "../rules/immutable.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateAmount, validateResourceName } from "./resource-amounts.ts";

/** Resource quotas, which admission enforces and a controller counts. */
export const resourceQuotaKind = defineKind({
  kind: "ResourceQuota",
  plural: "resourcequotas",
  shortNames: ["quota"],
  status: true,
  strategy: strategyOf("ResourceQuota", {
    initialStatus: {},
    validate: ({ spec = {} }) => [
      ...validateAmounts("spec.hard", spec.hard),
      ...validateScopes(spec),
      ...validateSelector(spec),
    ],
    validateUpdate: (next, current) => {
      const scopes = (spec: ResourceQuotaSpec = {}) => [...new Set(spec.scopes)].sort();
      return immutable("spec.scopes", scopes(next.spec), scopes(current.spec));
    },
    warnings: ({ spec }) => warnOfRequestsAboveLimits(spec?.hard ?? {}),
    returnsDeleted: true,
  }),
  validateStatus: (next) => {
    const { hard, used } = typed("ResourceQuota", next).status ?? {};
    return [...validateAmounts("status.hard", hard), ...validateAmounts("status.used", used)];
  },
});

const MEASURED = ["cpu", "memory", "ephemeral-storage"];
/** The resources that quotas know without a domain in front, by what may be in scope. */
const COMPUTE: ReadonlySet<string> = new Set(
  ["cpu", "memory"].flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
);
const STANDARD: ReadonlySet<string> = new Set([
  ...MEASURED.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
  "requests.storage",
  "pods",
  "resourcequotas",
  "services",
  "replicationcontrollers",
  "secrets",
  "persistentvolumeclaims",
  "configmaps",
  "services.nodeports",
  "services.loadbalancers",
]);

const isStandard = (name: string) => {
  return STANDARD.has(name) || name.startsWith("hugepages-") || name.startsWith("requests.hugepages-");
};

function validateAmounts(path: string, amounts: ResourceList = {}): FieldError[] {
  return Object.entries(amounts).flatMap(([name, amount]) => {
    const at = `${path}[${name}]`;
    const errors = validateResourceName(at, name, false);
    if (!name.includes("/") && !isStandard(name)) {
      errors.push(invalid(at, name, "must be a standard resource for quota"));
    }
    return [...errors, ...validateAmount(at, name, amount)];
  });
}

const SCOPES = [
  "Terminating",
  "NotTerminating",
  "BestEffort",
  "NotBestEffort",
  "PriorityClass",
  "CrossNamespacePodAffinity",
  "VolumeAttributesClass",
];
/** Scopes that an object belongs to or not, without names to choose from. */
const NAMELESS_SCOPES = ["BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity"];

/** True when objects of the scope use the resource, as far as it is one of the standard ones. */
function fitsScope(scope: string, resource: string): boolean {
  if (!isStandard(resource) || !SCOPES.includes(scope)) return true;
  if (scope === "VolumeAttributesClass") return ["persistentvolumeclaims", "requests.storage"].includes(resource);
  return resource === "pods" || (scope !== "BestEffort" && COMPUTE.has(resource));
}

function validateScopes({ scopes = [], hard = {} }: ResourceQuotaSpec): FieldError[] {
  const path = "spec.scopes";
  const errors = scopes.flatMap((scope) => [
    ...(SCOPES.includes(scope) ? [] : [invalid(path, scopes, "unsupported scope")]),
    ...misfits(scope, hard).map(() => invalid(path, scopes, "unsupported scope applied to resource")),
  ]);
  return [...errors, ...validatePairs(scopes, scopes)];
}

const misfits = (scope: string, hard: ResourceList) => Object.keys(hard).filter((name) => !fitsScope(scope, name));

function validatePairs(scopes: readonly string[], shown: readonly string[]): FieldError[] {
  const pairs = [
    ["BestEffort", "NotBestEffort"],
    ["Terminating", "NotTerminating"],
  ];
  return pairs
    .filter((pair) => pair.every((scope) => scopes.includes(scope)))
    .map(() => invalid("spec.scopes", shown, "conflicting scopes"));
}

function validateSelector({ scopeSelector, scopes = [], hard = {} }: ResourceQuotaSpec): FieldError[] {
  if (scopeSelector === undefined) return [];
  const path = "spec.scopeSelector.matchExpressions";
  const requirements = scopeSelector.matchExpressions ?? [];
  const errors = requirements.flatMap((requirement) => {
    const { scopeName } = requirement;
    return [
      ...(SCOPES.includes(scopeName) ? [] : [invalid(`${path}.scopeName`, scopeName, "unsupported scope")]),
      ...misfits(scopeName, hard).map(() => invalid(path, scopeSelector, "unsupported scope applied to resource")),
      ...validateOperator(path, requirement),
    ];
  });
  const names = requirements.map(({ scopeName }) => scopeName);
  return [...errors, ...validatePairs(names, scopes)];
}

function validateOperator(
  path: string,
  { scopeName, operator, values = [] }: ScopedResourceSelectorRequirement,
): FieldError[] {
  const errors: FieldError[] = [];
  if (NAMELESS_SCOPES.includes(scopeName) && operator !== "Exists") {
    const detail =
      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
    errors.push(invalid(`${path}.operator`, operator, detail));
  }
  if (operator === "In" || operator === "NotIn") {
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    if (values.length === 0) errors.push(required(`${path}.values`, detail));
  } else if (operator === "Exists" || operator === "DoesNotExist") {
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    if (values.length > 0) errors.push(invalid(`${path}.values`, values, detail));
  } else {
    errors.push(invalid(`${path}.operator`, operator, "not a valid selector operator"));
  }
  return errors;
}

/** A namespace whose requests may be more than its limits can never use them up. */
function warnOfRequestsAboveLimits(hard: ResourceList): string[] {
  return ["cpu", "memory", "storage", "ephemeral-storage"].flatMap((name) => {
    const isKnownBare = name === "cpu" || name === "memory";
    const request = [`requests.${name}`, ...(isKnownBare ? [name] : [])].find((known) => hard[known] !== undefined);
    const [asked, limit] = [hard[request ?? ""], hard[`limits.${name}`]];
    if (asked === undefined || limit === undefined || compareQuantities(asked, limit) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than limits.${name} (${limit})`];
  });
}
