import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind, type KindRow } from "../define-kind.ts";
import { VALIDATING_POLICY_KINDS } from "./validating-policies.ts";
import { WEBHOOK_CONFIGURATIONS } from "./webhook-configurations.ts";

/**
 * Defines a kind of which no objects can be created. It is served so that clients find an empty list, and not an
 * unknown kind.
 */
function defineRefused(what: string, row: Pick<KindRow, "kind" | "plural">): ResourceKind {
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

const definePolicy = (kind: string, plural: string) => defineRefused("mutating admission policies", { kind, plural });

/**
 * The kinds that decide about other objects' admission. Those that are not enforced here can be listed but not created,
 * because a rule that is not enforced is worse than none.
 */
export const ADMISSION_REGISTRATION_KINDS: readonly ResourceKind[] = [
  definePolicy("MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
  definePolicy("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"),
  ...VALIDATING_POLICY_KINDS,
  ...WEBHOOK_CONFIGURATIONS,
];
