import { type KubeObject, typed, untyped } from "../../api/object.ts";
import {
  reviewAccess,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
  reviewSelf,
  reviewToken,
} from "../access/access-reviews.ts";
import type { Authenticator } from "../access/authenticate.ts";
import type { Authorizer } from "../access/rbac.ts";
import type { TokenIssuer } from "../access/service-account-tokens.ts";
import { answerTokenRequest, planTokenRequest } from "../access/token-request.ts";
import { defineKind } from "../kinds/define-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { admitAction } from "../registry/admit.ts";
import { decodeBody } from "../registry/decode-body.ts";
import { placeInNamespace } from "../registry/metadata.ts";
import { viewOf } from "../registry/object-view.ts";
import { getObject } from "../registry/read.ts";
import type { RegistryDeps } from "../registry/registry-deps.ts";
import type { SubresourceCall, SubresourceHandler } from "./serve-resource.ts";

const AUTHENTICATION = "authentication.k8s.io";
const AUTHORIZATION = "authorization.k8s.io";

/** Kinds that are answered and not stored: reviews of identity and of access. */
export function reviewHandlers(deps: {
  authenticator: Authenticator;
  authorizer: Authorizer;
}): ReadonlyArray<[string, SubresourceHandler]> {
  const { authenticator, authorizer } = deps;
  const { authorize } = authorizer;
  const answer = (review: (object: KubeObject, call: SubresourceCall) => KubeObject): SubresourceHandler => {
    return async (call) => {
      const { kind, body, context, target } = call;
      const asked = placeInNamespace(kind, decodeBody(kind, body, context), target.namespace);
      return { status: 201, value: review(asked, call) };
    };
  };
  return [
    [
      `tokenreviews.${AUTHENTICATION}/`,
      answer((object) => untyped(reviewToken(typed("TokenReview", object), authenticator))),
    ],
    [
      `selfsubjectreviews.${AUTHENTICATION}/`,
      answer((object, { context }) => untyped(reviewSelf(typed("SelfSubjectReview", object), context.user))),
    ],
    [
      `subjectaccessreviews.${AUTHORIZATION}/`,
      answer((object) => untyped(reviewAccess(typed("SubjectAccessReview", object), authorize))),
    ],
    [
      `localsubjectaccessreviews.${AUTHORIZATION}/`,
      answer((object, { target }) => {
        return untyped(reviewLocalAccess(typed("LocalSubjectAccessReview", object), target.namespace, authorize));
      }),
    ],
    [
      `selfsubjectaccessreviews.${AUTHORIZATION}/`,
      answer((object, { context }) => {
        return untyped(reviewOwnAccess(typed("SelfSubjectAccessReview", object), context.user, authorize));
      }),
    ],
    [
      `selfsubjectrulesreviews.${AUTHORIZATION}/`,
      answer((object, { context }) => {
        return untyped(reviewOwnRules(typed("SelfSubjectRulesReview", object), context.user, authorizer));
      }),
    ],
  ];
}

/** TokenRequest is posted to a service account and answered; it has no resource of its own. */
const TOKEN_REQUEST = defineKind({ group: AUTHENTICATION, kind: "TokenRequest", plural: "tokenrequests" });

/** `serviceaccounts/token`: a token of the account, perhaps bound to a pod. */
export function tokenHandler(registry: RegistryDeps, reader: ResourceReader, tokens: TokenIssuer): SubresourceHandler {
  return async ({ kind, target, body, context }) => {
    const account = viewOf(kind, getObject(registry.store, kind, target));
    const sent = placeInNamespace(TOKEN_REQUEST, decodeBody(TOKEN_REQUEST, body, context), target.namespace);
    const admission = {
      operation: "CREATE" as const,
      kind,
      subresource: "token",
      namespace: target.namespace,
      name: target.name,
      user: context.user,
      object: sent,
      current: undefined,
      dryRun: context.dryRun,
      warn: context.warn,
      annotate: context.annotate,
    };
    const admitted = await admitAction(registry, admission);
    const request = typed("TokenRequest", admitted);
    const plan = planTokenRequest(request, account, reader);
    const issued = tokens.issue(plan);
    const answer = answerTokenRequest(request, plan, { ...issued, audiences: tokens.audiences });
    return { status: 201, value: untyped(answer) };
  };
}
