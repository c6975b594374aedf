import { describe, expect, it } from "vitest";
import type { SubjectAccessReviewSpec } from "../../api/gen/types.ts";
import type { AccessAttributes } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import {
  reviewAccess,
  reviewLocalAccess,
  reviewOwnAccess,
  reviewOwnRules,
  reviewSelf,
  reviewToken,
} from "./access-reviews.ts";
import type { TokenLogin } from "./token-login.ts";

const jane: User = { username: "jane", uid: "7", groups: ["dev"], extra: { a: ["b"] } };
const attributes = { verb: "get", resource: "pods", namespace: "default" };

function recorder(allowed: boolean, reason = "") {
  const seen: AccessAttributes[] = [];
  const authorize = (one: AccessAttributes) => {
    seen.push(one);
    return { allowed, reason };
  };
  return { seen, authorize };
}

describe("an access review", () => {
  it.each<[string, SubjectAccessReviewSpec, AccessAttributes]>([
    [
      "of a resource",
      {
        user: "jane",
        groups: ["dev"],
        uid: "7",
        extra: { a: ["b"] },
        resourceAttributes: {
          ...attributes,
          group: "apps",
          version: "v1",
          resource: "deployments",
          subresource: "scale",
          name: "x",
        },
      },
      {
        user: jane,
        verb: "get",
        group: "apps",
        version: "v1",
        resource: "deployments",
        subresource: "scale",
        namespace: "default",
        name: "x",
      },
    ],
    [
      "of a path",
      { user: "jane", nonResourceAttributes: { verb: "get", path: "/metrics" } },
      { user: { username: "jane", uid: undefined, groups: [], extra: undefined }, verb: "get", path: "/metrics" },
    ],
    [
      "of a list by field",
      {
        groups: ["dev"],
        resourceAttributes: {
          ...attributes,
          verb: "list",
          fieldSelector: { requirements: [{ key: "spec.nodeName", operator: "In", values: ["a"] }] },
        },
      },
      {
        user: { username: "", uid: undefined, groups: ["dev"], extra: undefined },
        verb: "list",
        group: "",
        version: "",
        resource: "pods",
        subresource: "",
        namespace: "default",
        name: "",
        fieldSelector: "spec.nodeName=a",
      },
    ],
  ])("%s asks the authorizer just that", (_what, spec, expected) => {
    const { seen, authorize } = recorder(true, "because");
    expect(reviewAccess({ spec }, authorize)).toEqual({ spec, status: { allowed: true, reason: "because" } });
    expect(seen).toEqual([expected]);
  });

  it.each<[string, SubjectAccessReviewSpec, string]>([
    [
      "nobody",
      { resourceAttributes: attributes },
      "spec.user: Required value: at least one of user or group must be specified",
    ],
    ["nothing", { user: "a" }, "exactly one of nonResourceAttributes or resourceAttributes must be specified"],
    [
      "two things",
      { user: "a", resourceAttributes: attributes, nonResourceAttributes: { path: "/" } },
      "cannot be specified in combination with resourceAttributes",
    ],
  ])("about %s is invalid", (_what, spec, message) => {
    const { authorize, seen } = recorder(true);
    expect(() => reviewAccess({ spec }, authorize)).toThrow(
      expect.objectContaining({ reason: "Invalid", message: expect.stringContaining(message) }),
    );
    expect(seen).toEqual([]);
  });

  it("of oneself is about who asks", () => {
    const { seen, authorize } = recorder(false);
    const review = reviewOwnAccess({ spec: { resourceAttributes: attributes } }, jane, authorize);
    expect(review.status).toEqual({ allowed: false });
    expect(seen).toEqual([
      {
        user: jane,
        verb: "get",
        group: "",
        version: "",
        resource: "pods",
        subresource: "",
        namespace: "default",
        name: "",
      },
    ]);
  });

  it("within a namespace is refused for another, and for paths", () => {
    const { authorize } = recorder(true);
    const local = (spec: SubjectAccessReviewSpec) => reviewLocalAccess({ spec }, "default", authorize);
    expect(local({ user: "a", resourceAttributes: attributes }).status).toEqual({ allowed: true });
    expect(() => local({ user: "a", resourceAttributes: { ...attributes, namespace: "x" } })).toThrow(
      "must match namespace",
    );
    expect(() => local({ user: "a", nonResourceAttributes: { path: "/" } })).toThrow(
      "disallowed on this kind of request",
    );
  });
});

describe("a review of oneself", () => {
  it("lists the rules of resources and of paths, and says when there may be more", () => {
    const rules = [
      { verbs: ["get"], apiGroups: [""], resources: ["pods"] },
      { verbs: ["get"], nonResourceURLs: ["/metrics"] },
    ];
    const review = reviewOwnRules({ spec: { namespace: "default" } }, jane, {
      rulesFor: () => ({ rules, problems: ["gone"] }),
    });
    expect(review.status).toEqual({
      resourceRules: [rules[0]],
      nonResourceRules: [rules[1]],
      incomplete: true,
      evaluationError: "gone",
    });
    expect(() => reviewOwnRules({ spec: {} }, jane, { rulesFor: () => ({ rules, problems: [] }) })).toThrow(
      "no namespace on request",
    );
  });

  it("tells who asks", () => {
    expect(reviewSelf({}, jane).status).toEqual({
      userInfo: { username: "jane", uid: "7", groups: ["dev"], extra: { a: ["b"] } },
    });
  });
});

describe("a token review", () => {
  const review = (login: TokenLogin, audiences?: string[]) =>
    reviewToken({ spec: { token: "t", ...(audiences && { audiences }) } }, { authenticateToken: () => login }).status;

  it("tells whose the token is, and for which audiences if any were asked for", () => {
    const user = { username: "jane", uid: "7", groups: ["dev"], extra: { a: ["b"] } };
    const login: TokenLogin = { kind: "user", user: jane, audiences: ["api"] };
    expect(review(login)).toEqual({ authenticated: true, user });
    expect(review(login, ["api", "x"])).toEqual({ authenticated: true, user, audiences: ["api"] });
  });

  it.each<[TokenLogin, string]>([
    [{ kind: "none" }, "invalid bearer token"],
    [
      { kind: "refused", problem: "service account token has expired" },
      "[invalid bearer token, service account token has expired]",
    ],
  ])("says why it is nobody's: %j", (login, error) => {
    expect(review(login)).toEqual({ user: {}, error });
  });

  it("needs a token", () => {
    expect(() => reviewToken({ spec: { token: "" } }, { authenticateToken: () => ({ kind: "none" }) })).toThrow(
      "token is required for TokenReview in authentication",
    );
  });
});
