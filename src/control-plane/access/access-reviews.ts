import { badRequestError, invalidError } from "../../api/api-error.ts";
import type { FieldError } from "../../api/field-error.ts";
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
  SubjectAccessReviewStatus,
  TokenReview,
  UserInfo,
} from "../../api/gen/types.ts";
import { forbidden, invalid, required } from "../../api/validation/problems.ts";
import type { AccessAttributes, Authorize } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import type { Authenticator } from "./authenticate.ts";
import type { Authorizer } from "./rbac.ts";

const GROUP = "authorization.k8s.io";

interface Asked {
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: NonResourceAttributes;
}

/** Answers whether the review's user may do what the review describes. Throws Invalid. */
export function reviewAccess(review: SubjectAccessReview, authorize: Authorize): SubjectAccessReview {
  const errors = [...validateSubject(review.spec), ...validateAsked(review.spec)];
  if (errors.length > 0) throw invalidError({ group: GROUP, kind: "SubjectAccessReview" }, "", errors);
  return { ...review, status: decide(attributesOf(userOf(review.spec), review.spec), authorize) };
}

/** Answers the same within the namespace of the path. */
export function reviewLocalAccess(
  review: LocalSubjectAccessReview,
  namespace: string,
  authorize: Authorize,
): LocalSubjectAccessReview {
  const { spec } = review;
  const errors = [...validateSubject(spec), ...validateAsked(spec), ...validateLocal(review, namespace)];
  if (errors.length > 0) throw invalidError({ group: GROUP, kind: "LocalSubjectAccessReview" }, "", errors);
  if (spec.resourceAttributes?.namespace !== namespace) {
    throw badRequestError(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
  }
  return { ...review, status: decide(attributesOf(userOf(spec), spec), authorize) };
}

/** Answers whether the caller may do what the review describes, as `kubectl auth can-i` asks. */
export function reviewOwnAccess(
  review: SelfSubjectAccessReview,
  user: User,
  authorize: Authorize,
): SelfSubjectAccessReview {
  const errors = validateAsked(review.spec);
  if (errors.length > 0) throw invalidError({ group: GROUP, kind: "SelfSubjectAccessReview" }, "", errors);
  return { ...review, status: decide(attributesOf(user, review.spec), authorize) };
}

/** Answers what the caller may do in a namespace, as `kubectl auth can-i --list` asks. */
export function reviewOwnRules(
  review: SelfSubjectRulesReview,
  user: User,
  authorizer: Pick<Authorizer, "rulesFor">,
): SelfSubjectRulesReview {
  const { namespace = "" } = review.spec;
  if (namespace === "") throw badRequestError("no namespace on request");
  const { rules, problems } = authorizer.rulesFor(user, namespace);
  const resourceRules = rules.filter((rule) => (rule.resources?.length ?? 0) > 0);
  const nonResourceRules = rules.filter((rule) => (rule.nonResourceURLs?.length ?? 0) > 0);
  return {
    ...review,
    status: {
      resourceRules: resourceRules.map(({ nonResourceURLs: _, ...rule }) => rule),
      nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs = [] }) => ({ verbs, nonResourceURLs })),
      incomplete: problems.length > 0,
      ...(problems.length > 0 && { evaluationError: problems.join(", ") }),
    },
  };
}

/** Answers who the caller is, as `kubectl auth whoami` asks. */
export function reviewSelf(review: SelfSubjectReview, user: User): SelfSubjectReview {
  return { ...review, status: { userInfo: userInfoOf(user) } };
}

/** Answers whose the token is. Throws BadRequest when the review has no token. */
export function reviewToken(review: TokenReview, authenticator: Pick<Authenticator, "authenticateToken">): TokenReview {
  const { token = "", audiences = [] } = review.spec;
  if (token === "") throw badRequestError("token is required for TokenReview in authentication");
  const login = authenticator.authenticateToken(token, audiences.length > 0 ? audiences : undefined);
  switch (login.kind) {
    case "user": {
      const { user } = login;
      // A review that names no audience gets none in its answer.
      const found = audiences.length > 0 ? { audiences: [...login.audiences] } : {};
      return { ...review, status: { authenticated: true, user: userInfoOf(user), ...found } };
    }
    case "refused":
      return { ...review, status: { user: {}, error: `[invalid bearer token, ${login.problem}]` } };
    case "none":
      return { ...review, status: { user: {}, error: "invalid bearer token" } };
  }
}

/** The user as the API shows it. */
function userInfoOf({ username, uid, groups, extra }: User): UserInfo {
  const copied = Object.entries(extra ?? {}).map(([key, values]): [string, string[]] => [key, [...values]]);
  return {
    username,
    ...(uid !== undefined && uid !== "" && { uid }),
    groups: [...groups],
    ...(copied.length > 0 && { extra: Object.fromEntries(copied) }),
  };
}

function userOf({ user = "", uid, groups = [], extra }: SubjectAccessReviewSpec): User {
  return { username: user, uid, groups, extra };
}

function decide(attributes: AccessAttributes, authorize: Authorize): SubjectAccessReviewStatus {
  const { allowed, reason } = authorize(attributes);
  return { allowed, ...(reason !== "" && { reason }) };
}

function attributesOf(user: User, { resourceAttributes, nonResourceAttributes }: Asked): AccessAttributes {
  if (resourceAttributes === undefined) {
    const { path = "", verb = "" } = nonResourceAttributes ?? {};
    return { user, verb, path };
  }
  const { group = "", version = "", resource = "", subresource = "", namespace = "", name = "" } = resourceAttributes;
  const selector = fieldSelectorOf(resourceAttributes);
  const access = { user, verb: resourceAttributes.verb ?? "", group, version, resource, subresource, namespace, name };
  return selector === "" ? access : { ...access, fieldSelector: selector };
}

/** The requirements of the field selector with equality. The authorizers know no other operators. */
function fieldSelectorOf({ fieldSelector }: ResourceAttributes): string {
  const { rawSelector, requirements = [] } = fieldSelector ?? {};
  if (rawSelector !== undefined && rawSelector !== "") return rawSelector;
  const equalities = requirements.flatMap(({ key, operator, values = [] }) => {
    return operator === "In" && values.length === 1 ? [`${key}=${values[0] ?? ""}`] : [];
  });
  return equalities.join(",");
}

function validateSubject({ user = "", groups = [] }: SubjectAccessReviewSpec): FieldError[] {
  if (user !== "" || groups.length > 0) return [];
  return [required("spec.user", "at least one of user or group must be specified")];
}

function validateAsked({ resourceAttributes, nonResourceAttributes }: Asked): FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const rule = "cannot be specified in combination with resourceAttributes";
    return [invalid("spec.nonResourceAttributes", nonResourceAttributes, rule)];
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return [];
  const rule = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [invalid("spec.resourceAttributes", null, rule)];
}

function validateLocal({ metadata, spec }: LocalSubjectAccessReview, namespace: string): FieldError[] {
  const { namespace: given = "" } = metadata ?? {};
  return [
    ...(given === "" || given === namespace
      ? []
      : [invalid("metadata.namespace", given, `must match namespace: ${namespace}`)]),
    ...(spec.nonResourceAttributes === undefined
      ? []
      : [forbidden("spec.nonResourceAttributes", "disallowed on this kind of request")]),
  ];
}
