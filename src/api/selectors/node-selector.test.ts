import { describe, expect, test } from "vitest";
import type { NodeSelectorRequirement, NodeSelectorTerm } from "../gen/types.ts";
import { computeNamedNodes, matchesAnyTerm, matchesNodeAffinity } from "./node-selector.ts";

const NODE = { name: "n1", labels: { zone: "a", slots: "5", empty: "" } };
const requiring = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
  containers: [],
  affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
});

describe("a requirement", () => {
  test.each<[NodeSelectorRequirement, boolean]>([
    [{ key: "zone", operator: "In", values: ["b", "a"] }, true],
    [{ key: "zone", operator: "In", values: ["b"] }, false],
    [{ key: "missing", operator: "In", values: ["a"] }, false],
    [{ key: "zone", operator: "NotIn", values: ["a"] }, false],
    [{ key: "missing", operator: "NotIn", values: ["a"] }, true],
    [{ key: "empty", operator: "Exists" }, true],
    [{ key: "missing", operator: "Exists" }, false],
    [{ key: "missing", operator: "DoesNotExist" }, true],
    [{ key: "zone", operator: "DoesNotExist" }, false],
    [{ key: "slots", operator: "Gt", values: ["4"] }, true],
    [{ key: "slots", operator: "Gt", values: ["5"] }, false],
    [{ key: "slots", operator: "Lt", values: ["6"] }, true],
    [{ key: "zone", operator: "Lt", values: ["6"] }, false],
    [{ key: "missing", operator: "Gt", values: ["1"] }, false],
    [{ key: "zone", operator: "Near", values: ["a"] }, false],
    [{ key: "toString", operator: "Exists" }, false],
  ])("%j: %j", (requirement, expected) => {
    expect(matchesAnyTerm([{ matchExpressions: [requirement] }], NODE)).toBe(expected);
  });

  test.each<[NodeSelectorRequirement, boolean]>([
    [{ key: "metadata.name", operator: "In", values: ["n1"] }, true],
    [{ key: "metadata.name", operator: "In", values: ["n2"] }, false],
    [{ key: "metadata.name", operator: "NotIn", values: ["n2"] }, true],
    [{ key: "metadata.uid", operator: "In", values: ["n1"] }, false],
  ])("of a field %j: %j", (requirement, expected) => {
    expect(matchesAnyTerm([{ matchFields: [requirement] }], NODE)).toBe(expected);
  });
});

test("terms are alternatives, and an empty one is none", () => {
  const a: NodeSelectorTerm = { matchExpressions: [{ key: "zone", operator: "In", values: ["a"] }] };
  const b: NodeSelectorTerm = { matchExpressions: [{ key: "zone", operator: "In", values: ["b"] }] };
  expect(matchesAnyTerm([b, a], NODE)).toBe(true);
  expect(matchesAnyTerm([b], NODE)).toBe(false);
  expect(matchesAnyTerm([{}], NODE)).toBe(false);
  expect(matchesAnyTerm([], NODE)).toBe(false);
});

test("node selector and required affinity must both hold", () => {
  const spec = requiring({ matchExpressions: [{ key: "zone", operator: "Exists" }] });
  expect(matchesNodeAffinity(spec, NODE)).toBe(true);
  expect(matchesNodeAffinity({ ...spec, nodeSelector: { zone: "a" } }, NODE)).toBe(true);
  expect(matchesNodeAffinity({ ...spec, nodeSelector: { zone: "b" } }, NODE)).toBe(false);
  expect(matchesNodeAffinity({ containers: [] }, NODE)).toBe(true);
});

describe("nodes that are named", () => {
  const named = (...values: string[]) => ({ key: "metadata.name", operator: "In", values });
  test.each<[string, NodeSelectorTerm[], string[] | undefined]>([
    ["none", [], undefined],
    ["one in each term", [{ matchFields: [named("a")] }, { matchFields: [named("b")] }], ["a", "b"]],
    ["in one term and not in another", [{ matchFields: [named("a")] }, { matchExpressions: [] }], undefined],
    ["twice in a term", [{ matchFields: [named("a", "b"), named("b", "c")] }], ["b"]],
    ["against each other", [{ matchFields: [named("a"), named("b")] }], []],
  ])("%s", (_case, terms, expected) => {
    const nodes = computeNamedNodes(requiring(...terms));
    expect(nodes && [...nodes]).toEqual(expected);
  });
});
