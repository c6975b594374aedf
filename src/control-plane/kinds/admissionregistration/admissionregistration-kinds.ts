import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";

/** Served so that clients find none of them, rather than no such kind. */
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

const defineWebhook = (kind: string, plural: string) => defineRefused("admission webhooks", { kind, plural });

const definePolicy = (kind: string, plural: string, status = false) => {
  return defineRefused("admission policies", { kind, plural, status });
};

/**
 * What would have a say in what is stored. A rule that keeps nothing out is worse than none: they can be looked for, and
 * not created.
 */
export const ADMISSION_REGISTRATION_KINDS: readonly ResourceKind[] = [
  definePolicy("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
  definePolicy("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
  defineWebhook("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
  definePolicy("ValidatingAdmissionPolicy", "validatingadmissionpolicies", true),
  definePolicy("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
  defineWebhook("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
];
