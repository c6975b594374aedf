import { expect, it } from "vitest";
import type { PolicyRule } from "../../api/gen/types.ts";
import { type Action, ruleAllows } from "./rule-match.ts";

/** An action written as `get apps deployments/scale name`. */
function action(text: string): Action {
  const [verb = "", group = "", target = "", name = ""] = text.split(" ");
  const [resource = "", subresource = ""] = target.split("/");
  return {
    verb,
    group: group === "core" ? "" : group,
    version: "v1",
    resource,
    subresource,
    namespace: "default",
    name,
  };
}

const pods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
const all = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };

it.each<[string, PolicyRule, string, boolean]>([
  ["the same of everything", pods, "get core pods a", true],
  ["another verb", pods, "list core pods", false],
  ["another group", pods, "get metrics.k8s.io pods a", false],
  ["another resource", pods, "get core secrets a", false],
  ["a subresource of the resource", pods, "get core pods/log a", false],
  ["the subresource by name", { ...pods, resources: ["pods/log"] }, "get core pods/log a", true],
  ["the resource, where its subresource is named", { ...pods, resources: ["pods/log"] }, "get core pods a", false],
  [
    "any subresource, where a star stands for it: upstream has no such rule",
    { ...pods, resources: ["pods/*"] },
    "get core pods/log a",
    false,
  ],
  ["a subresource of any resource", { ...all, resources: ["*/scale"] }, "get apps deployments/scale a", true],
  ["another subresource of any resource", { ...all, resources: ["*/scale"] }, "get apps deployments/status a", false],
  [
    "the resource itself, where all its kin's subresource is named",
    { ...all, resources: ["*/scale"] },
    "get apps deployments a",
    false,
  ],
  ["every resource and subresource", all, "delete apps deployments/scale a", true],
  ["a name among the names", { ...pods, resourceNames: ["a", "b"] }, "get core pods b", true],
  ["a name that is not", { ...pods, resourceNames: ["a", "b"] }, "get core pods c", false],
  ["no name, where names are given", { ...pods, verbs: ["list"], resourceNames: ["a"] }, "list core pods", false],
  ["a rule without groups", { verbs: ["get"], resources: ["pods"] }, "get core pods a", false],
  ["a rule for paths only", { verbs: ["*"], nonResourceURLs: ["*"] }, "get core pods a", false],
])("a rule against %s", (_what, rule, text, expected) => {
  expect(ruleAllows(rule, action(text))).toBe(expected);
});

it.each<[string, string, boolean]>([
  ["/healthz", "/healthz", true],
  ["/healthz", "/healthz/ping", false],
  ["/healthz/*", "/healthz/ping", true],
  ["/healthz/*", "/healthz", false],
  ["/health*", "/healthz", true],
  ["*", "/anything", true],
  ["/a/*/c", "/a/b/c", false],
])("the path %s against %s: %s", (pattern, path, expected) => {
  expect(ruleAllows({ verbs: ["get"], nonResourceURLs: [pattern] }, { verb: "get", path })).toBe(expected);
});

it("a rule for all resources says nothing about paths", () => {
  expect(ruleAllows(all, { verb: "get", path: "/healthz" })).toBe(false);
});
