import { describe, expect, it } from "vitest";
import type { NamedRuleWithOperations } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import { labelSelectorOf } from "../../../api/selectors/label-selector.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import type { ResourceKind } from "../../ports/resource-kind.ts";
import { LOOPBACK_USER } from "../../ports/user.ts";
import { matchRequest } from "./match-request.ts";

function kindOf(group: string, version: string, kind: string): ResourceKind {
  const plural = `${kind.toLowerCase()}s`;
  return {
    group,
    version,
    kind,
    listKind: `${kind}List`,
    plural,
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    verbs: ["create"],
    schema: {
      decode: (value) => ({ value, errors: [], warnings: [] }),
      node: { kind: "untyped" },
      strategicMerge: false,
      definition: kind,
    },
    strategy: {},
    subresources: [{ name: "status", group, version, kind, verbs: ["update"] }],
    columns: [],
  };
}

const PODS = kindOf("", "v1", "Pod");
const NAMESPACES = { ...kindOf("", "v1", "Namespace"), namespaced: false };
const WIDGETS = kindOf("example.com", "v1", "Widget");
const OLD_WIDGETS = kindOf("example.com", "v1beta1", "Widget");

const EVERYTHING: NamedRuleWithOperations = {
  apiGroups: ["*"],
  apiVersions: ["*"],
  resources: ["*/*"],
  operations: ["*"],
  scope: "*",
};

const object = (labels: Record<string, string> = {}, name = "a"): KubeObject => {
  return { apiVersion: "v1", kind: "Any", metadata: { name, labels } };
};

function requestFor(kind: ResourceKind, fields: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    operation: "CREATE",
    kind,
    subresource: "",
    namespace: kind.namespaced ? "n" : "",
    name: "a",
    user: LOOPBACK_USER,
    object: object(),
    current: undefined,
    dryRun: false,
    warn() {},
    ...fields,
  };
}

interface Selected {
  rules?: readonly Partial<NamedRuleWithOperations>[] | undefined;
  excluded?: readonly Partial<NamedRuleWithOperations>[];
  namespace?: Record<string, string>;
  labels?: Record<string, string>;
  equivalents?: boolean;
}

const NAMESPACE_LABELS: Readonly<Record<string, Record<string, string>>> = { n: { team: "red" } };

function matched(request: AdmissionRequest, selection: Selected = {}): ResourceKind | undefined {
  const { rules = [{}], excluded = [], namespace = {}, labels = {}, equivalents = true } = selection;
  const whole = (rule: Partial<NamedRuleWithOperations>) => ({ ...EVERYTHING, ...rule });
  return matchRequest(
    {
      reader: {
        get({ name }) {
          const found = NAMESPACE_LABELS[name];
          return found && object(found, name);
        },
      },
      viewsOf: (kind) => (kind.kind === "Widget" ? [WIDGETS, OLD_WIDGETS] : [kind]),
    },
    {
      rules: rules.map(whole),
      excludeRules: excluded.map(whole),
      namespaceSelector: labelSelectorOf({ matchLabels: namespace }),
      objectSelector: labelSelectorOf({ matchLabels: labels }),
      matchesEquivalents: equivalents,
    },
    request,
  );
}

describe("rules", () => {
  const status = { subresource: "status", operation: "UPDATE" } as const;
  it.each<[string, boolean, AdmissionRequest, Partial<NamedRuleWithOperations>]>([
    ["match everything", true, requestFor(PODS), {}],
    ["match a resource", true, requestFor(PODS), { resources: ["pods"] }],
    ["match no other", false, requestFor(PODS), { resources: ["nodes"] }],
    ["match no subresource of it", false, requestFor(PODS, status), { resources: ["pods"] }],
    ["match a subresource", true, requestFor(PODS, status), { resources: ["pods/status"] }],
    ["match all subresources", true, requestFor(PODS, status), { resources: ["pods/*"] }],
    ["match a subresource of all", true, requestFor(PODS, status), { resources: ["*/status"] }],
    ["match all resources, without subresources", false, requestFor(PODS, status), { resources: ["*"] }],
    ["match all resources themselves", true, requestFor(PODS), { resources: ["*"] }],
    ["match an operation", true, requestFor(PODS), { operations: ["DELETE", "CREATE"] }],
    ["match no other operation", false, requestFor(PODS), { operations: ["UPDATE"] }],
    ["match a group", true, requestFor(PODS), { apiGroups: ["apps", ""] }],
    ["match no other group", false, requestFor(PODS), { apiGroups: ["apps"] }],
    ["match no other version", false, requestFor(PODS), { apiVersions: ["v2"] }],
    ["match what is in a namespace", true, requestFor(PODS), { scope: "Namespaced" }],
    ["match no namespace then", false, requestFor(NAMESPACES), { scope: "Namespaced" }],
    ["match a namespace as of the cluster", true, requestFor(NAMESPACES), { scope: "Cluster" }],
    ["match nothing in a namespace then", false, requestFor(PODS), { scope: "Cluster" }],
    ["match an object by its name", true, requestFor(PODS), { resourceNames: ["b", "a"] }],
    ["match no object of another name", false, requestFor(PODS), { resourceNames: ["b"] }],
  ])("%s", (_name, matches, request, rule) => {
    expect(matched(request, { rules: [rule] }) === request.kind).toBe(matches);
  });

  it("hold for other versions of the resource, in which the object is shown then", () => {
    const rules = [{ apiVersions: ["v1beta1"], resources: ["widgets"] }];
    expect(matched(requestFor(WIDGETS), { rules })).toBe(OLD_WIDGETS);
    expect(matched(requestFor(OLD_WIDGETS), { rules })).toBe(OLD_WIDGETS);
    expect(matched(requestFor(WIDGETS), { rules, equivalents: false })).toBeUndefined();
    expect(matched(requestFor(PODS), { rules: [{ apiVersions: ["v1beta1"] }] })).toBeUndefined();
  });

  it("that exclude outweigh the others, for other versions as well", () => {
    const excluded = [{ apiVersions: ["v1beta1"] }];
    expect(matched(requestFor(WIDGETS), { excluded })).toBeUndefined();
    expect(matched(requestFor(WIDGETS), { excluded, equivalents: false })).toBe(WIDGETS);
    expect(matched(requestFor(PODS), { excluded })).toBe(PODS);
  });
});

describe("selectors", () => {
  const RED = { team: "red" };
  it.each<[string, boolean, AdmissionRequest, Selected]>([
    ["choose by the namespace", true, requestFor(PODS), { namespace: RED }],
    ["leave others out", false, requestFor(PODS), { namespace: { team: "blue" } }],
    ["choose a namespace by its own labels", true, requestFor(NAMESPACES, { object: object(RED) }), { namespace: RED }],
    [
      "choose a namespace that is deleted by those that it has",
      true,
      requestFor(NAMESPACES, { operation: "DELETE", name: "n", object: undefined }),
      { namespace: RED },
    ],
    [
      "say nothing of what is in no namespace",
      true,
      requestFor({ ...PODS, plural: "nodes", namespaced: false }),
      { namespace: RED },
    ],
    ["choose by the object", true, requestFor(PODS, { object: object(RED) }), { labels: RED }],
    ["choose by the object as it was", true, requestFor(PODS, { current: object(RED) }), { labels: RED }],
    ["leave other objects out", false, requestFor(PODS), { labels: RED }],
  ])("%s", (_name, matches, request, selection) => {
    expect(matched(request, selection) === request.kind).toBe(matches);
  });

  it("fail where the namespace is not there, and only where the rules match", () => {
    const request = requestFor(PODS, { namespace: "gone" });
    expect(() => matched(request, { namespace: RED })).toThrow('namespaces "gone" not found');
    expect(matched(request, { namespace: RED, rules: [{ operations: ["DELETE"] }] })).toBeUndefined();
  });
});
