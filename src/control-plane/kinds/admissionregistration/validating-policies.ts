import type { MatchResources } from "../../../api/gen/types.ts";
import { typed, untyped } from "../../../api/object.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { validatePolicy, validatePolicyBinding } from "./policy-rules.ts";

const GROUP = "admissionregistration.k8s.io";
const CATEGORIES = ["api-extensions"];

function defaultResources(resources: MatchResources): MatchResources {
  const { matchPolicy = "Equivalent", namespaceSelector = {}, objectSelector = {} } = resources;
  const { resourceRules, excludeResourceRules } = resources;
  return {
    ...resources,
    matchPolicy,
    namespaceSelector,
    objectSelector,
    ...(resourceRules && { resourceRules: resourceRules.map((rule) => ({ ...rule, scope: rule.scope ?? "*" })) }),
    ...(excludeResourceRules && {
      excludeResourceRules: excludeResourceRules.map((rule) => ({ ...rule, scope: rule.scope ?? "*" })),
    }),
  };
}

const POLICY = "ValidatingAdmissionPolicy";
const BINDING = "ValidatingAdmissionPolicyBinding";

/** Policies in Common Expression Language that judge requests, and what binds them to requests and parameters. */
export const VALIDATING_POLICY_KINDS: readonly ResourceKind[] = [
  defineKind({
    group: GROUP,
    kind: POLICY,
    plural: "validatingadmissionpolicies",
    namespaced: false,
    categories: CATEGORIES,
    status: true,
    strategy: {
      default(object) {
        const { spec = {}, ...policy } = typed(POLICY, object);
        const { failurePolicy = "Fail", matchConstraints } = spec;
        const constraints = matchConstraints && { matchConstraints: defaultResources(matchConstraints) };
        return untyped({ ...policy, spec: { ...spec, failurePolicy, ...constraints } });
      },
      prepareCreate: ({ status: _status, ...object }) => object,
      validate: (object) => validatePolicy(typed(POLICY, object)),
      generation: true,
    },
  }),
  defineKind({
    group: GROUP,
    kind: BINDING,
    plural: "validatingadmissionpolicybindings",
    namespaced: false,
    categories: CATEGORIES,
    strategy: {
      default(object) {
        const { spec, ...binding } = typed(BINDING, object);
        if (!spec?.matchResources) return object;
        return untyped({ ...binding, spec: { ...spec, matchResources: defaultResources(spec.matchResources) } });
      },
      validate: (object) => validatePolicyBinding(typed(BINDING, object)),
      generation: true,
    },
  }),
];
