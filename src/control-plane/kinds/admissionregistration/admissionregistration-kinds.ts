import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";
import { WEBHOOK_CONFIGURATIONS } from "./webhook-configurations.ts";

/**
 * Defines a kind of which no objects can be created. It is served so that clients find an empty list, and not an
 * unknown kind.
 */
function defineRefused(what: string, row: Pick<KindRow, "kind" | "plural" | "status">): ResourceKind {
  const refusal = `${what} are not evaluated by this control plane, so that none can be created`;
  const categories = ["api-extensions"];
  return defineKind({
    ...row,
    group: "admissionregistration.k8s.io",
    namespaced: false,
    categories,
    strategy: { refusal },
  });
}

const definePolicy = (kind: string, plural: string, status = false) => {
  return defineRefused("admission policies", { kind, plural, status });
};

/**
 * The kinds that decide about other objects' admission. Policies can be listed but not created, because a rule that is
 * not enforced is worse than none.
 */
export const ADMISSION_REGISTRATION_KINDS: readonly ResourceKind[] = [
  definePolicy("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
  definePolicy("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
  definePolicy("ValidatingAdmissionPolicy", "validatingadmissionpolicies", true),
  definePolicy("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
  ...WEBHOOK_CONFIGURATIONS,
];
