import { describe, expect, it } from "vitest";
import { readAuditPolicy } from "./audit-policy.ts";

const policy = (rules: string, more = "") => `apiVersion: audit.k8s.io/v1\nkind: Policy\n${more}rules:\n${rules}`;

describe("readAuditPolicy", () => {
  it("reads rules, with what the policy says of all of them", () => {
    const text = policy(
      `- level: RequestResponse
  users: [jane]
  verbs: [create]
  resources: [{ group: apps, resources: [deployments, "*/scale"], resourceNames: [a] }]
  namespaces: [default]
  omitManagedFields: false
- level: Metadata
  nonResourceURLs: ["/healthz*", "*"]
  omitStages: [ResponseStarted]
`,
      "omitStages: [RequestReceived]\nomitManagedFields: true\n",
    );
    const empty = { users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceURLs: [] };
    expect(readAuditPolicy(text, "p.yaml").rules).toEqual([
      {
        ...empty,
        level: "RequestResponse",
        users: ["jane"],
        verbs: ["create"],
        resources: [{ group: "apps", resources: ["deployments", "*/scale"], resourceNames: ["a"] }],
        namespaces: ["default"],
        omitStages: ["RequestReceived"],
        omitManagedFields: false,
      },
      {
        ...empty,
        level: "Metadata",
        nonResourceURLs: ["/healthz*", "*"],
        omitStages: ["ResponseStarted", "RequestReceived"],
        omitManagedFields: true,
      },
    ]);
  });

  it.each([
    ["", "it is empty"],
    ["a: [", "the audit policy p.yaml cannot be used: "],
    ["- a", "it must be an object of kind Policy of audit.k8s.io/v1"],
    ["apiVersion: v1\nkind: Policy", 'must be of kind Policy of audit.k8s.io/v1, and is "Policy" of "v1"'],
    [policy("  []"), "rules: Required value: a policy without rules records nothing"],
    [policy("- users: [a]"), "rules[0].level: Required value"],
    [policy("- level: All"), 'rules[0].level: Unsupported value: "All": supported values: "None", "Metadata"'],
    [policy("- level: None\n  verb: [get]"), "rules[0].verb"],
    [policy("- level: 1"), "rules[0].level"],
    [policy('- level: None\n  nonResourceURLs: ["x"]'), "non-resource URL rules must begin with a '/' character"],
    [policy('- level: None\n  nonResourceURLs: ["/a*b"]'), "wildcards '*' must be the final character of the rule"],
    [policy('- level: None\n  nonResourceURLs: ["/a"]\n  namespaces: [b]'), "cannot apply to both regular resources"],
    [
      policy("- level: None\n  resources: [{ group: apps/v1 }]"),
      'rules[0].resources[0].group: Invalid value: "apps/v1"',
    ],
    [
      policy("- level: None\n  resources: [{ resourceNames: [a] }]"),
      "using resourceNames requires at least one resource",
    ],
    [policy("- level: None\n  omitStages: [Never]"), "allowed stages are RequestReceived,ResponseStarted,"],
    [`${policy("- level: None")}\n---\na: b`, "it has more than one document"],
  ])("refuses %j with what is to be mended", (text, message) => {
    expect(() => readAuditPolicy(text, "p.yaml")).toThrow(message);
  });
});
