import { describe, expect, it } from "vitest";
import type { FlowcontrolSubject, NonResourcePolicyRule, ResourcePolicyRule } from "../../api/gen/types.ts";
import type { AccessAttributes } from "../ports/request.ts";
import { takesRequest } from "./flow-rule-match.ts";

const builder = { username: "system:serviceaccount:ci:builder", groups: ["system:serviceaccounts", "g"] };
const everybody: FlowcontrolSubject = { kind: "User", user: { name: "*" } };
const everything: ResourcePolicyRule = {
  verbs: ["*"],
  apiGroups: ["*"],
  resources: ["*"],
  namespaces: ["*"],
  clusterScope: true,
};

const getOf = (fields: object = {}): AccessAttributes => ({
  ...{ user: builder, verb: "get", group: "apps", version: "v1", resource: "deployments", subresource: "" },
  ...{ namespace: "a", name: "b" },
  ...fields,
});

describe("a subject", () => {
  it.each<[FlowcontrolSubject, boolean]>([
    [everybody, true],
    [{ kind: "User", user: { name: builder.username } }, true],
    [{ kind: "User", user: { name: "builder" } }, false],
    [{ kind: "Group", group: { name: "g" } }, true],
    [{ kind: "Group", group: { name: "*" } }, true],
    [{ kind: "Group", group: { name: "h" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "builder" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "*" } }, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "c", name: "*" } }, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "build" } }, false],
    [{ kind: "User" }, false],
  ])("%j: %s", (subject, isTaken) => {
    expect(takesRequest([{ subjects: [subject], resourceRules: [everything] }], getOf())).toBe(isTaken);
  });
});

describe("a resource rule", () => {
  it.each<[Partial<ResourcePolicyRule>, object, boolean]>([
    [{}, {}, true],
    [{ verbs: ["list", "get"] }, {}, true],
    [{ verbs: ["list"] }, {}, false],
    [{ apiGroups: [""] }, {}, false],
    [{ resources: ["deployments"] }, { subresource: "scale" }, false],
    [{ resources: ["deployments/scale"] }, { subresource: "scale" }, true],
    [{ resources: ["*"] }, { subresource: "scale" }, true],
    [{ namespaces: ["b"] }, {}, false],
    [{ namespaces: ["*"], clusterScope: false }, { namespace: "" }, false],
    [{ namespaces: [], clusterScope: true }, { namespace: "" }, true],
    [{ namespaces: [], clusterScope: true }, {}, false],
  ])("%j with %j: %s", (rule, asked, isTaken) => {
    const rules = [{ subjects: [everybody], resourceRules: [{ ...everything, ...rule }] }];
    expect(takesRequest(rules, getOf(asked))).toBe(isTaken);
  });

  it("takes no path", () => {
    const rules = [{ subjects: [everybody], resourceRules: [everything] }];
    expect(takesRequest(rules, { user: builder, verb: "get", path: "/version" })).toBe(false);
  });
});

describe("a rule of paths", () => {
  it.each<[Partial<NonResourcePolicyRule>, string, boolean]>([
    [{ nonResourceURLs: ["*"] }, "/a", true],
    [{ nonResourceURLs: ["/healthz"] }, "/healthz", true],
    [{ nonResourceURLs: ["/healthz"] }, "/healthz/ping", true],
    [{ nonResourceURLs: ["/healthz"] }, "/healthzz", false],
    [{ nonResourceURLs: ["/a/*"] }, "/a/b", true],
    [{ nonResourceURLs: ["/a/*"] }, "/a", false],
    [{ nonResourceURLs: ["/a*"] }, "/ab", false],
    [{ nonResourceURLs: ["*"], verbs: ["post"] }, "/a", false],
  ])("%j takes %s: %s", (rule, path, isTaken) => {
    const nonResourceRules = [{ verbs: ["get"], nonResourceURLs: [], ...rule }];
    const asked = { user: builder, verb: "get", path };
    expect(takesRequest([{ subjects: [everybody], nonResourceRules }], asked)).toBe(isTaken);
  });
});
