import type { CustomResourceDefinition, CustomResourceDefinitionCondition } from "../../api/gen/types.ts";

/** Says where the API of a group of the Kubernetes project was approved, or why it was not. */
export const APPROVAL_ANNOTATION = "api-approved.kubernetes.io";

const MORE = "see https://github.com/kubernetes/enhancements/pull/1111";
const MISSING = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`;

/** What the annotation of a definition in a group of the Kubernetes project says. */
interface CrdApproval {
  readonly state: "approved" | "bypassed" | "missing" | "invalid";
  readonly message: string;
}

/** Undefined where the group is nobody's to approve. As `apihelpers.GetAPIApprovalState`. */
export function readApproval({ metadata, spec }: CustomResourceDefinition): CrdApproval | undefined {
  if (!/(^|\.)(k8s|kubernetes)\.io$/.test(spec.group)) return undefined;
  const approval = metadata?.annotations?.[APPROVAL_ANNOTATION] ?? "";
  if (approval === "") return { state: "missing", message: `${MISSING}, ${MORE}` };
  if (approval.startsWith("unapproved")) {
    return { state: "bypassed", message: `not approved: ${JSON.stringify(approval)}` };
  }
  if (URL.canParse(approval) && new URL(approval).host !== "") {
    return { state: "approved", message: `approved in ${approval}` };
  }
  return { state: "invalid", message: `${MISSING} with either a URL or a reason starting with "unapproved", ${MORE}` };
}

const REASONS: Readonly<Record<CrdApproval["state"], string>> = {
  approved: "ApprovedAnnotation",
  bypassed: "UnapprovedAnnotation",
  missing: "MissingAnnotation",
  invalid: "InvalidAnnotation",
};

/** The condition that tells it in the definition's status. */
export function approvalCondition({ state, message }: CrdApproval): CustomResourceDefinitionCondition {
  const status = state === "approved" ? "True" : "False";
  return { type: "KubernetesAPIApprovalPolicyConformant", status, reason: REASONS[state], message };
}
