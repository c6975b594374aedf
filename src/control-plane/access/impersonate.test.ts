import { describe, expect, it } from "vitest";
import type { AccessAttributes } from "../ports/request.ts";
import type { User } from "../ports/user.ts";
import { type ImpersonationHeaders, impersonate } from "./impersonate.ts";

const admin: User = { username: "admin", groups: ["ops"] };

/** Impersonates with an authorizer that allows everything but `refused`, and records the questions that it gets. */
function asked(headers: ImpersonationHeaders, refused = "") {
  const targets: string[] = [];
  const authorize = (attributes: AccessAttributes) => {
    if ("path" in attributes) throw new Error("not about paths");
    const { verb, group, resource, subresource, namespace, name, user } = attributes;
    const target = [user.username, verb, group, resource, subresource, namespace, name].join("|");
    targets.push(target);
    return { allowed: target !== refused, reason: "no" };
  };
  return { user: impersonate(admin, headers, authorize), targets };
}

describe("a request", () => {
  it.each<[string, ImpersonationHeaders, User, string[]]>([
    ["as itself", {}, admin, []],
    [
      "as another user",
      { "impersonate-user": ["jane"] },
      { username: "jane", groups: ["system:authenticated"] },
      ["admin|impersonate||users|||jane"],
    ],
    [
      "as another user with groups, UID and extra",
      {
        "impersonate-user": ["jane"],
        "impersonate-group": ["dev", "qa"],
        "impersonate-uid": ["7"],
        "impersonate-extra-scopes": ["view", "edit"],
        "impersonate-extra-acme.com%2fproject": ["p"],
      },
      {
        username: "jane",
        uid: "7",
        groups: ["dev", "qa", "system:authenticated"],
        extra: { scopes: ["view", "edit"], "acme.com/project": ["p"] },
      },
      [
        "admin|impersonate||users|||jane",
        "admin|impersonate||groups|||dev",
        "admin|impersonate||groups|||qa",
        "admin|impersonate|authentication.k8s.io|userextras|scopes||view",
        "admin|impersonate|authentication.k8s.io|userextras|scopes||edit",
        "admin|impersonate|authentication.k8s.io|userextras|acme.com/project||p",
        "admin|impersonate|authentication.k8s.io|uids|||7",
      ],
    ],
    [
      "as a service account, with its groups",
      { "impersonate-user": ["system:serviceaccount:ci:builder"] },
      {
        username: "system:serviceaccount:ci:builder",
        groups: ["system:serviceaccounts", "system:serviceaccounts:ci", "system:authenticated"],
      },
      ["admin|impersonate||serviceaccounts||ci|builder"],
    ],
    [
      "as nobody",
      { "impersonate-user": ["system:anonymous"] },
      { username: "system:anonymous", groups: ["system:unauthenticated"] },
      ["admin|impersonate||users|||system:anonymous"],
    ],
    [
      "as somebody unauthenticated",
      { "impersonate-user": ["jane"], "impersonate-group": ["system:unauthenticated"] },
      { username: "jane", groups: ["system:unauthenticated"] },
      ["admin|impersonate||users|||jane", "admin|impersonate||groups|||system:unauthenticated"],
    ],
  ])("%s", (_what, headers, user, targets) => {
    expect(asked(headers)).toEqual({ user, targets });
  });

  it("is refused when any part of it is not allowed", () => {
    const headers = { "impersonate-user": ["jane"], "impersonate-group": ["system:masters"] };
    expect(() => asked(headers, "admin|impersonate||groups|||system:masters")).toThrow(
      expect.objectContaining({
        reason: "Forbidden",
        message:
          'groups "system:masters" is forbidden: User "admin" cannot impersonate resource "groups" in API group "" at the cluster scope: no',
      }),
    );
  });

  it.each<[ImpersonationHeaders]>([
    [{ "impersonate-group": ["dev"] }],
    [{ "impersonate-uid": ["7"] }],
    [{ "impersonate-extra-a": ["b"] }],
  ])("%j without a user is refused", (headers) => {
    expect(() => asked(headers)).toThrow(
      expect.objectContaining({
        reason: "InternalError",
        message: expect.stringContaining("without impersonating a user"),
      }),
    );
  });
});
