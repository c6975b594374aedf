import type { ResourceKind } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";

/** The kinds of questions, which are answered when they are created and not stored. */
export const REVIEW_KINDS: readonly ResourceKind[] = [
  review(AUTHENTICATION, "SelfSubjectReview", "selfsubjectreviews"),
  review(AUTHENTICATION, "TokenReview", "tokenreviews"),
  review(AUTHORIZATION, "LocalSubjectAccessReview", "localsubjectaccessreviews"),
  review(AUTHORIZATION, "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
  review(AUTHORIZATION, "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
  review(AUTHORIZATION, "SubjectAccessReview", "subjectaccessreviews"),
];

function review(group: string, kind: string, plural: string): ResourceKind {
  const namespaced = kind.startsWith("Local");
  return defineKind({ group, kind, plural, namespaced, verbs: ["create"] });
}
