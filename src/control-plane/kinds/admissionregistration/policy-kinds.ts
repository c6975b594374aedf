import type { MatchResources } from "../../../api/gen/types.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import { validateMutatingBinding, validateMutatingPolicy } from "./mutating-policy-rules.ts";
import { validateValidatingBinding, validateValidatingPolicy } from "./validating-policy-rules.ts";

/** Policies in Common Expression Language that change or judge requests, and what binds them to requests and parameters. */
export const ADMISSION_POLICY_KINDS: readonly ResourceKind[] = [
  defineRow({
    kind: "MutatingAdmissionPolicy",
    plural: "mutatingadmissionpolicies",
    strategy: strategyOf("MutatingAdmissionPolicy", {
      default: setPolicyDefaults,
      validate: validateMutatingPolicy,
      generation: true,
    }),
  }),
  defineRow({
    kind: "MutatingAdmissionPolicyBinding",
    plural: "mutatingadmissionpolicybindings",
    strategy: strategyOf("MutatingAdmissionPolicyBinding", {
      default: ({ spec }) => setResourcesDefaults(spec?.matchResources),
      validate: validateMutatingBinding,
      generation: true,
    }),
  }),
  defineRow({
    kind: "ValidatingAdmissionPolicy",
    plural: "validatingadmissionpolicies",
    status: true,
    strategy: {
      ...strategyOf("ValidatingAdmissionPolicy", {
        default: setPolicyDefaults,
        validate: validateValidatingPolicy,
        generation: true,
      }),
      prepareCreate: ({ status: _status, ...object }) => object,
    },
  }),
  defineRow({
    kind: "ValidatingAdmissionPolicyBinding",
    plural: "validatingadmissionpolicybindings",
    strategy: strategyOf("ValidatingAdmissionPolicyBinding", {
      default: ({ spec }) => setResourcesDefaults(spec?.matchResources),
      validate: validateValidatingBinding,
      generation: true,
    }),
  }),
];

function defineRow(row: KindRow): ResourceKind {
  const group = "admissionregistration.k8s.io";
  return defineKind({ ...row, group, namespaced: false, categories: ["api-extensions"] });
}

interface PolicyDraft {
  spec?: { failurePolicy?: string; matchConstraints?: MatchResources };
}

function setPolicyDefaults(policy: PolicyDraft): void {
  policy.spec ??= {};
  policy.spec.failurePolicy ??= "Fail";
  setResourcesDefaults(policy.spec.matchConstraints);
}

function setResourcesDefaults(resources: MatchResources | undefined): void {
  if (resources === undefined) return;
  resources.matchPolicy ??= "Equivalent";
  resources.namespaceSelector ??= {};
  resources.objectSelector ??= {};
  for (const rule of resources.resourceRules ?? []) rule.scope ??= "*";
  for (const rule of resources.excludeResourceRules ?? []) rule.scope ??= "*";
}
