import { describe, expect, it } from "vitest";
import type { AccessAttributes } from "../ports/request.ts";
import type { AuditRule } from "./audit-policy.ts";
import { findAuditRule } from "./match-audit-rule.ts";

const user = { username: "jane", groups: ["developers", "system:authenticated"] };
const pod: AccessAttributes = {
  ...{ user, verb: "get", group: "", version: "v1", resource: "pods" },
  ...{ subresource: "", namespace: "default", name: "a" },
};
const path: AccessAttributes = { user, verb: "get", path: "/healthz/ping" };
const rule = (fields: Partial<AuditRule>): AuditRule => ({
  level: "Metadata",
  users: [],
  userGroups: [],
  verbs: [],
  resources: [],
  namespaces: [],
  nonResourceURLs: [],
  omitStages: [],
  omitManagedFields: false,
  ...fields,
});
const of = (group: string, resources: string[] = [], resourceNames: string[] = []) => [
  { group, resources, resourceNames },
];

describe("findAuditRule", () => {
  it.each<[string, Partial<AuditRule>, AccessAttributes, boolean]>([
    ["anything", {}, pod, true],
    ["anything, of a path", {}, path, true],
    ["its user", { users: ["joe", "jane"] }, pod, true],
    ["another user", { users: ["joe"] }, pod, false],
    ["one of its groups", { userGroups: ["developers"] }, pod, true],
    ["another group", { userGroups: ["admins"] }, pod, false],
    ["its verb", { verbs: ["get"] }, pod, true],
    ["another verb", { verbs: ["list"] }, pod, false],
    ["its namespace", { namespaces: ["default"] }, pod, true],
    ["a namespace, of a path", { namespaces: [""] }, path, false],
    ["what is in no namespace", { namespaces: [""] }, { ...pod, namespace: "" }, true],
    ["its whole group", { resources: of("") }, pod, true],
    ["any group", { resources: of("*", ["pods"]) }, pod, true],
    ["another group of the API", { resources: of("apps", ["pods"]) }, pod, false],
    ["its resource", { resources: of("", ["pods"]) }, pod, true],
    ["its resource, but not the subresource", { resources: of("", ["pods"]) }, { ...pod, subresource: "log" }, false],
    ["its subresource", { resources: of("", ["pods/log"]) }, { ...pod, subresource: "log" }, true],
    ["that subresource of anything", { resources: of("", ["*/log"]) }, { ...pod, subresource: "log" }, true],
    ["all of its resource", { resources: of("", ["pods/*"]) }, { ...pod, subresource: "log" }, true],
    ["all of its resource, itself too", { resources: of("", ["pods/*"]) }, pod, true],
    ["all resources", { resources: of("", ["*"]) }, { ...pod, subresource: "log" }, true],
    ["its name", { resources: of("", ["pods"], ["a"]) }, pod, true],
    ["another name", { resources: of("", ["pods"], ["b"]) }, pod, false],
    ["resources, of a path", { resources: of("*") }, path, false],
    ["its path", { nonResourceURLs: ["/healthz/ping"] }, path, true],
    ["the beginning of its path", { nonResourceURLs: ["/healthz*"] }, path, true],
    ["all paths", { nonResourceURLs: ["*"] }, path, true],
    ["another path", { nonResourceURLs: ["/healthz"] }, path, false],
    ["paths, of a resource", { nonResourceURLs: ["*"] }, pod, false],
  ])("compares with %s", (_, fields, attributes, isFound) => {
    expect(findAuditRule({ rules: [rule(fields)] }, attributes) !== undefined).toBe(isFound);
  });

  it("lets the first rule count, also one that records nothing", () => {
    const rules = [rule({ verbs: ["list"] }), rule({ level: "None", users: ["jane"] }), rule({ level: "Request" })];
    expect(findAuditRule({ rules }, pod)).toBeUndefined();
    expect(findAuditRule({ rules }, { ...pod, user: { ...user, username: "joe" } })?.level).toBe("Request");
    expect(findAuditRule({ rules }, { ...pod, verb: "list" })?.level).toBe("Metadata");
  });
});
